"""Where a cube lies: the one place that turns a location into a Zarr store."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from zarr.abc.store import Store
from zarr.storage import LocalStore

from storage.errors import CubeError

#: A folder's path; a URL of an object store is refused until one can be written safely.
CubeLocation = str | Path


def cube_folder(location: CubeLocation) -> Path:
    """Return the folder of a cube.

    Examples
    --------
    >>> cube_folder("results/quick.zarr").name
    'quick.zarr'
    """
    if "://" in str(location):
        raise CubeError(f"{location} is a URL. Cubes live in folders: give a path.")
    return Path(location)


def store_at(location: CubeLocation, *, writable: bool = False) -> Store:
    """Return the store of a cube.

    Paths go to `LocalStore`, which writes a file beside its place and renames it: no kill leaves
    a torn chunk. A ``file://`` URL would go through fsspec, which does not.
    """
    return LocalStore(cube_folder(location), read_only=not writable)


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path beside `path`, and rename it when all is written: whole or not there."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in a folder that is made if it is missing."""
    path.parent.mkdir(exist_ok=True)
    with replacing(path) as beside:
        beside.write_bytes(content)
