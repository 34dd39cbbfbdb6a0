"""A cube in a folder, whose files are replaced atomically."""

import os
import shutil
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from zarr.abc.store import Store
from zarr.storage import LocalStore

from pipeline.files import replace_file, write_durably
from storage.backends import folder_locks, metadata_swap
from storage.layout.axes import TileIndex


@dataclass(frozen=True)
class FolderBackend:
    """A `storage.backends.protocol.Backend` on a file system: it writes beside and renames."""

    folder: Path

    def store(self, *, writable: bool) -> Store:
        """Return a store that writes a chunk to a temporary file and renames it."""
        return LocalStore(self.folder, read_only=not writable)

    def is_taken(self) -> bool:
        """Return whether a file or a folder that is not empty exists there."""
        return self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir()))

    def create(self, files: Mapping[str, bytes]) -> None:
        """Write all files to a folder beside the cube's, then rename that folder."""
        beside = self.folder.with_name(f".{self.folder.name}.{uuid4().hex}")
        try:
            for key, content in {**files, str(folder_locks.LOCK): b""}.items():
                write_durably(beside / key, content)
            beside.rename(self.folder)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not self.is_taken():  # otherwise another process created it first
                raise

    def keys(self, folder: str) -> list[str]:
        """Return the keys of all files below a folder of the cube."""
        return [
            f"{Path(root).relative_to(self.folder).as_posix()}/{name}"
            for root, _, names in os.walk(self.folder / folder)
            for name in names
        ]

    def read(self, key: str) -> bytes:
        """Return the content of one file, or raise FileNotFoundError."""
        return (self.folder / key).read_bytes()

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those files that exist; some may be removed meanwhile."""
        found = {}
        for key in keys:
            with suppress(FileNotFoundError, NotADirectoryError):
                found[key] = self.read(key)
        return found

    def write(self, files: Mapping[str, bytes]) -> None:
        """Create or replace files, each of them atomically."""
        for key, content in files.items():
            replace_file(self.folder / key, content)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove those files that exist."""
        for key in keys:
            (self.folder / key).unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Wait for the lock on the metadata documents."""
        return folder_locks.locked(self.folder)

    def tile_locked(self, index: TileIndex) -> AbstractContextManager[None]:
        """Wait for the lock on a tile."""
        return folder_locks.tile_locked(self.folder, index)

    def swap_documents(self, documents: Mapping[str, bytes]) -> None:
        """Replace all documents by replacing one link."""
        metadata_swap.swap(self.folder, documents)

    def settle_documents(self, keys: Iterable[str]) -> None:
        """Turn the links that a killed swap left into files."""
        metadata_swap.settle(self.folder, keys)
