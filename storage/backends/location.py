"""Where a cube lies: the one place that turns a location into a Zarr store."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from zarr.abc.store import Store

from storage.backends.folder import FolderPlace
from storage.errors import CubeError
from storage.layout.axes import TileIndex

#: A folder's path, or a URL of an object store such as ``s3://bucket/cube.zarr``.
CubeLocation = str | Path


class Place(Protocol):
    """What a cube needs of where it lies, beside the chunks that Zarr itself reads and writes.

    Keys are as Zarr's: paths below the cube, parted by ``/``.
    """

    def store(self, *, writable: bool) -> Store:
        """Return the cube as Zarr sees it."""

    def is_taken(self) -> bool:
        """Say whether something is there already."""

    def create(self, files: Mapping[str, bytes]) -> None:
        """Make a cube of these files at once or not at all; not where something is already."""

    def keys(self, folder: str) -> list[str]:
        """List all that is below a folder of the cube."""

    def read(self, key: str) -> bytes:
        """Return one file, or raise FileNotFoundError."""

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those files that are there."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Make or replace files, each whole or not at all."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove files, if they are there."""

    def locked(self) -> AbstractContextManager[None]:
        """Let one process at a time change the metadata documents."""

    def tile_locked(self, index: TileIndex) -> AbstractContextManager[None]:
        """Let one process at a time change a tile, where that can be arranged."""

    def exchange(self, documents: Mapping[str, bytes]) -> None:
        """Replace all metadata documents at once; a kill leaves all old or all new ones."""

    def settle(self, keys: Iterable[str]) -> None:
        """Tidy up after an exchange that was killed; what the documents say stays the same."""


def place_at(location: CubeLocation) -> Place:
    """Return where a cube lies.

    Examples
    --------
    >>> place_at("no-cube-yet.zarr").is_taken()
    False
    >>> place_at("file:///results/quick.zarr")
    Traceback (most recent call last):
    storage.errors.CubeError: file:///results/quick.zarr is a URL of a local file. Give its path.
    """
    if not is_url(location):
        return FolderPlace(Path(location))
    url = urlsplit(str(location))
    if url.scheme == "file":
        # Through fsspec or obstore, writes to it would not be safe from kills.
        raise CubeError(f"{location} is a URL of a local file. Give its path.")
    # Signs of a secret; but Azure's own URLs have an @ before the account.
    signs = set("?#" if url.scheme.startswith("abfs") else "@?#")
    if url.password is not None or signs & set(str(location)):
        raise CubeError(
            f"A {url.scheme}:// URL with @, ? or # was given. Keep secrets out of URLs, which are "
            "shown and stored: set them in the environment."
        )
    try:
        from storage.backends.objects import object_place
    except ModuleNotFoundError as error:
        raise CubeError(
            f"The cube {location} needs obstore: pip install 'imwk-sweep[cloud]'."
        ) from error
    return object_place(str(location).rstrip("/"))


def store_at(location: CubeLocation, *, writable: bool = False) -> Store:
    """Return the Zarr store of a cube."""
    return place_at(location).store(writable=writable)


def absolute(location: CubeLocation) -> str:
    """Return a location that means the same in every folder.

    Examples
    --------
    >>> absolute("s3://bucket/cube.zarr")
    's3://bucket/cube.zarr'
    >>> absolute("cube.zarr") == str(Path.cwd() / "cube.zarr")
    True
    """
    return str(location) if is_url(location) else str(Path(location).absolute())


def is_url(location: CubeLocation) -> bool:
    """Say whether a location is a URL, and no path."""
    return "://" in str(location)
