"""A cube in an object store such as S3, through obstore.

An object is replaced atomically, but nothing can be renamed, and no two objects change at once. So
the root document, which repeats the metadata of all arrays, decides: a cube exists when its root
document does, and is extended when the root document changes, which is one request. Credentials
come from the environment only.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from typing import Any

import obstore
from obstore.exceptions import AlreadyExistsError
from obstore.store import from_url
from zarr.abc.store import Store

from storage.backends.object_errors import request_errors
from storage.backends.object_lock import LOCK, ObjectLock
from storage.backends.object_store import CheckedObjectStore
from storage.errors import CubeError
from storage.layout.axes import TileIndex
from storage.layout.skeleton import DOCUMENT, document_copies

#: Small requests spend their time waiting for the network.
REQUESTS_AT_ONCE = 32
#: Wait some seconds for a store that does not answer; blocks are tried again as well.
RETRIES: Any = {"max_retries": 6, "retry_timeout": timedelta(seconds=60)}


@cache
def object_backend(url: str) -> "ObjectBackend":
    """Return the backend for a URL, always the same one: it keeps connections open."""
    with request_errors(url):
        try:
            return ObjectBackend(url, from_url(url, retry_config=RETRIES))
        except ValueError as error:
            raise CubeError(
                f"{url} does not name a bucket: {error}. Give s3://BUCKET/NAME."
            ) from error


@dataclass(frozen=True, eq=False)
class ObjectBackend:
    """A `storage.backends.protocol.Backend` in an object store."""

    url: str
    objects: Any

    def store(self, *, writable: bool) -> Store:
        """Return the Zarr store of the cube."""
        return CheckedObjectStore(self.objects, read_only=not writable, url=self.url)

    def is_taken(self) -> bool:
        """Return whether there is a root document."""
        return bool(self.read_many([DOCUMENT]))

    def create(self, files: Mapping[str, bytes]) -> None:
        """Write the root document last, unless another process created the cube first."""
        foreign = set(self.keys("")) - set(files) - {LOCK}
        if foreign and not self.is_taken():
            raise CubeError(
                f"{self.url} contains other objects, such as {min(foreign)}: other data, or the "
                "rest of another cube whose creation was killed. Choose another location, or "
                "delete them."
            )
        # If the lock's lease runs out meanwhile, still only one root document is created.
        with self.locked(), suppress(AlreadyExistsError):
            if not self.is_taken():
                self.write({key: content for key, content in files.items() if key != DOCUMENT})
                self._put(DOCUMENT, files[DOCUMENT], "create")

    def keys(self, folder: str) -> list[str]:
        """Return the keys of all objects below a folder of the cube."""
        with request_errors(self.url):
            pages = obstore.list(self.objects, folder or None)
            return [str(entry["path"]) for page in pages for entry in page]

    def read(self, key: str) -> bytes:
        """Return the content of one object, or raise FileNotFoundError."""
        with request_errors(self.url):
            return bytes(obstore.get(self.objects, key).bytes())

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return the contents of those objects that exist."""

        def read(key: str) -> tuple[str, bytes | None]:
            with suppress(FileNotFoundError):
                return key, self.read(key)
            return key, None

        return {key: content for key, content in _at_once(read, keys) if content is not None}

    def write(self, files: Mapping[str, bytes]) -> None:
        """Create or replace objects."""
        _at_once(lambda key: self._put(key, files[key]), files)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove those objects that exist."""

        def delete(key: str) -> None:
            with suppress(FileNotFoundError), request_errors(self.url):
                obstore.delete(self.objects, key)

        _at_once(delete, keys)

    def locked(self) -> AbstractContextManager[None]:
        """Wait for the lock on the metadata documents."""
        return ObjectLock(self.url, self.objects).held()

    def tile_locked(self, _: TileIndex) -> AbstractContextManager[None]:
        """Lock nothing: a lock for every tile would take more requests than the tile itself."""
        return nullcontext()

    def swap_documents(self, documents: Mapping[str, bytes]) -> None:
        """Replace the root document, whose copies of the others decide, and then the others."""
        self._put(DOCUMENT, documents[DOCUMENT])
        self.settle_documents(documents)

    def settle_documents(self, keys: Iterable[str]) -> None:
        """Make the documents of arrays equal to their copies in the root document."""
        copies = document_copies(self.read(DOCUMENT))
        stored = self.read_many(key for key in keys if key in copies)
        self.write(
            {
                key: json.dumps(copies[key]).encode()
                for key, content in stored.items()
                if json.loads(content) != copies[key]
            }
        )

    def _put(self, key: str, content: bytes, mode: Any = "overwrite") -> None:
        with request_errors(self.url):
            obstore.put(self.objects, key, content, mode=mode)


def _at_once(work: Callable[[str], Any], keys: Iterable[str]) -> list[Any]:
    wanted = list(keys)
    if len(wanted) == 1:
        return [work(wanted[0])]
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        return list(pool.map(work, wanted))
