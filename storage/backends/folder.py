"""A cube in a folder, and how files are written there: whole or not at all."""

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
from storage.backends import metadata_swap
from storage.layout.axes import TileIndex


@dataclass(frozen=True)
class FolderPlace:
    """A `Place` on a file system: all is done by writing beside and renaming."""

    folder: Path

    def store(self, *, writable: bool) -> Store:
        """Return a store that writes a chunk beside its place and renames it."""
        return LocalStore(self.folder, read_only=not writable)

    def is_taken(self) -> bool:
        """Say whether a file or a folder that is not empty is there."""
        return self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir()))

    def create(self, files: Mapping[str, bytes]) -> None:
        """Write all files beside the cube's place, then rename their folder."""
        beside = self.folder.with_name(f".{self.folder.name}.{uuid4().hex}")
        try:
            for key, content in {**files, str(metadata_swap.LOCK): b""}.items():
                write_durably(beside / key, content)
            beside.rename(self.folder)
        except OSError:
            shutil.rmtree(beside, ignore_errors=True)
            if not self.is_taken():  # else another creator was first
                raise

    def keys(self, folder: str) -> list[str]:
        """List all files below a folder of the cube."""
        return [
            f"{Path(root).relative_to(self.folder).as_posix()}/{name}"
            for root, _, names in os.walk(self.folder / folder)
            for name in names
        ]

    def read(self, key: str) -> bytes:
        """Return one file, or raise FileNotFoundError."""
        return (self.folder / key).read_bytes()

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those files that are there; some may be removed meanwhile."""
        found = {}
        for key in keys:
            with suppress(FileNotFoundError, NotADirectoryError):
                found[key] = self.read(key)
        return found

    def write(self, files: Mapping[str, bytes]) -> None:
        """Make or replace files, each whole or not at all."""
        for key, content in files.items():
            replace_file(self.folder / key, content)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove files, if they are there."""
        for key in keys:
            (self.folder / key).unlink(missing_ok=True)

    def locked(self) -> AbstractContextManager[None]:
        """Wait for a lock that a kill frees."""
        return metadata_swap.locked(self.folder)

    def tile_locked(self, index: TileIndex) -> AbstractContextManager[None]:
        """Wait for a lock that a kill frees."""
        return metadata_swap.tile_locked(self.folder, index)

    def exchange(self, documents: Mapping[str, bytes]) -> None:
        """Replace all documents by turning one link."""
        metadata_swap.exchange(self.folder, documents)

    def settle(self, keys: Iterable[str]) -> None:
        """Make files of the links that a killed exchange left."""
        metadata_swap.settle(self.folder, keys)
