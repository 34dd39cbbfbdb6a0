"""Locks on a cube in a folder. The system frees them when a process is killed."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.layout.axes import TileIndex

#: Both are inside an array's folder, where Zarr looks for chunks only; it warns of unknown files
#: in the folder of a group.
LOCK = Path("status") / ".lock"
#: A file of its own: a process that closes a file gives up all locks that it has on parts of it.
TILE_LOCKS = Path("status") / ".tiles"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change the metadata documents of a cube."""
    with (folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def tile_locked(folder: Path, index: TileIndex) -> Iterator[None]:
    """Let one process at a time change a tile, by a lock on one byte of a file."""
    config, dataset, normalisation = index
    byte = config << 48 | dataset << 16 | normalisation
    with (folder / TILE_LOCKS).open("a") as locks:
        fcntl.lockf(locks, fcntl.LOCK_EX, 1, byte)
        yield
