"""The protocol of backends."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

from zarr.abc.store import Store

from storage.layout.axes import TileIndex


class Backend(Protocol):
    """The operations on files that a cube needs, beside the chunks that Zarr reads and writes.

    Keys are those of Zarr: paths relative to the cube, separated by ``/``.
    """

    def store(self, *, writable: bool) -> Store:
        """Return the Zarr store of the cube."""

    def is_taken(self) -> bool:
        """Return whether something is stored there already."""

    def create(self, files: Mapping[str, bytes]) -> None:
        """Create a cube of these files, all or none; change nothing if `is_taken`."""

    def keys(self, folder: str) -> list[str]:
        """Return the keys of all files below a folder of the cube."""

    def read(self, key: str) -> bytes:
        """Return the content of one file, or raise FileNotFoundError."""

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those files that exist."""

    def write(self, files: Mapping[str, bytes]) -> None:
        """Create or replace files, each of them atomically."""

    def delete(self, keys: Iterable[str]) -> None:
        """Remove those files that exist."""

    def locked(self) -> AbstractContextManager[None]:
        """Let one process at a time change the metadata documents."""

    def tile_locked(self, index: TileIndex) -> AbstractContextManager[None]:
        """Let one process at a time change a tile, if the backend has such locks."""

    def swap_documents(self, documents: Mapping[str, bytes]) -> None:
        """Replace all metadata documents at once: a kill leaves all old or all new ones."""

    def settle_documents(self, keys: Iterable[str]) -> None:
        """Clean up after a swap that was killed, without changing what the documents contain."""
