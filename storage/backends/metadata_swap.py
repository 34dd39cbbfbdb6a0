"""Several files replaced at once: a kill at any moment leaves all old or all new ones.

All metadata documents change together when a cube grows, or its arrays would not fit each other.
No file system replaces two files at once, but a single link can be turned: for the time of the
exchange each document is a link through one folder link, ``current``, which first names the old
documents and then the new. At rest there are no links.
"""

import fcntl
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from pipeline.files import write_durably
from storage.layout.axes import TileIndex

#: Inside an array's folder, where Zarr looks for chunks only; in a group it warns of strangers.
STAGE = Path("status") / ".exchange"
LOCK = Path("status") / ".lock"
#: Another file, for a process that closes a file gives up all locks of parts of it.
TILE_LOCKS = Path("status") / ".tiles"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Let one process at a time change the documents of a cube; a kill frees the lock."""
    with (folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def tile_locked(folder: Path, index: TileIndex) -> Iterator[None]:
    """Let one process at a time change a tile; a kill frees the lock."""
    config, dataset, normalisation = index
    place = config << 48 | dataset << 16 | normalisation
    with (folder / TILE_LOCKS).open("a") as locks:
        fcntl.lockf(locks, fcntl.LOCK_EX, 1, place)
        yield


def exchange(folder: Path, documents: Mapping[str, bytes]) -> None:
    """Replace the files `documents`, by path in `folder`, all at once."""
    settle(folder, documents)
    stage = folder / STAGE
    for key, content in documents.items():
        write_durably(stage / "old" / key, (folder / key).read_bytes())
        write_durably(stage / "new" / key, content)
    _link(stage, stage / "current", "old")
    for key in documents:
        target = os.path.relpath(stage / "current" / key, (folder / key).parent)
        _link(stage, folder / key, target)
    _link(stage, stage / "current", "new")
    settle(folder, documents)


def settle(folder: Path, keys: Iterable[str]) -> None:
    """Make files of the links that an exchange left; what they read stays the same."""
    stage = folder / STAGE
    for key in keys:
        if (folder / key).is_symlink():
            copy = stage / "copy"
            write_durably(copy, (folder / key).read_bytes())
            copy.replace(folder / key)
    if stage.exists():
        shutil.rmtree(stage)


def _link(stage: Path, path: Path, target: str) -> None:
    """Put a link in place of `path`; it is made in the stage, where a kill may leave it."""
    link = stage / "link"
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    link.replace(path)
