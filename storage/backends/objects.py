"""A cube in an object store such as S3, by obstore.

An object is replaced whole or not at all, but nothing can be renamed and no two objects change at
once. So the root document, which repeats the metadata of all arrays, is the one that counts: a
cube is there when it is, and extended when it changes, which is one request. Credentials come
from the environment alone.
"""

import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError
from obstore.store import from_url
from zarr.abc.store import ByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from storage.backends.object_errors import in_words
from storage.errors import CubeError
from storage.layout.axes import TileIndex
from storage.layout.skeleton import DOCUMENT, document_copies

#: Beside the chunks of an array: in a group, Zarr would warn of a stranger.
LOCK = "status/.lock"
#: Seconds after which a lock that did not change is one that a killed process left.
LEASE = 60
#: Small requests wait for the network, not for us.
REQUESTS_AT_ONCE = 32
#: Some seconds of patience with a store that does not answer; blocks are tried again as well.
RETRIES: Any = {"max_retries": 6, "retry_timeout": timedelta(seconds=60)}


@cache
def object_place(url: str) -> "ObjectPlace":
    """Return the place at a URL, the same one every time: it keeps connections open."""
    with in_words(url):
        try:
            return ObjectPlace(url, from_url(url, retry_config=RETRIES))
        except ValueError as error:
            raise CubeError(f"{url} names no bucket: {error}. Give s3://BUCKET/NAME.") from error


@dataclass(frozen=True, eq=False)
class ObjectPlace:
    """A `storage.backends.location.Place` in an object store."""

    url: str
    objects: Any

    def store(self, *, writable: bool) -> Store:
        """Return the cube as Zarr sees it."""
        return _Objects(self.objects, read_only=not writable, url=self.url)

    def is_taken(self) -> bool:
        """Say whether there is a root document."""
        return bool(self.read_many([DOCUMENT]))

    def create(self, files: Mapping[str, bytes]) -> None:
        """Write the root document last, unless another creator was first."""
        strangers = set(self.keys("")) - set(files) - {LOCK}
        if strangers and not self.is_taken():
            raise CubeError(
                f"Something else is at {self.url}, such as {min(strangers)}: other data, or what a "
                "creation of another cube left that was killed. Choose another place, or delete it."
            )
        # Should the lock's lease run out meanwhile, still only one root document is made.
        with self.locked(), suppress(AlreadyExistsError):
            if not self.is_taken():
                self.write({key: content for key, content in files.items() if key != DOCUMENT})
                self._put(DOCUMENT, files[DOCUMENT], "create")

    def keys(self, folder: str) -> list[str]:
        """List all objects below a folder of the cube."""
        with in_words(self.url):
            pages = obstore.list(self.objects, folder or None)
            return [str(entry["path"]) for page in pages for entry in page]

    def read(self, key: str) -> bytes:
        """Return one object, or raise FileNotFoundError."""
        with in_words(self.url):
            return bytes(obstore.get(self.objects, key).bytes())

    def read_many(self, keys: Iterable[str]) -> dict[str, bytes]:
        """Return those objects that are there."""

        def read(key: str) -> tuple[str, bytes | None]:
            with suppress(FileNotFoundError):
                return key, self.read(key)
            return key, None

        return {key: content for key, content in _at_once(read, keys) if content is not None}

    def write(self, files: Mapping[str, bytes]) -> None:
        """Make or replace objects."""
        _at_once(lambda key: self._put(key, files[key]), files)

    def delete(self, keys: Iterable[str]) -> None:
        """Remove objects, if they are there."""

        def delete(key: str) -> None:
            with suppress(FileNotFoundError), in_words(self.url):
                obstore.delete(self.objects, key)

        _at_once(delete, keys)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Wait for a lock; one that a killed process left is taken over when its lease is over."""
        mark, tag, since = uuid4().hex.encode(), None, monotonic()
        while not self._took_lock(mark, tag if monotonic() - since > LEASE else None):
            sleep(0.1)
            found = self._lock_tag()
            if found != tag:
                tag, since = found, monotonic()
        try:
            yield
        finally:
            if self.read_many([LOCK]).get(LOCK) == mark:
                self.delete([LOCK])

    def tile_locked(self, _: TileIndex) -> AbstractContextManager[None]:
        """Lock nothing: a lease for every tile would cost more requests than the tile."""
        return nullcontext()

    def exchange(self, documents: Mapping[str, bytes]) -> None:
        """Replace the root document, whose copies of the others count, and then the others."""
        self._put(DOCUMENT, documents[DOCUMENT])
        self.settle(documents)

    def settle(self, keys: Iterable[str]) -> None:
        """Make the documents of arrays what their copies in the root document are."""
        copies = document_copies(self.read(DOCUMENT))
        stored = self.read_many(key for key in keys if key in copies)
        self.write(
            {
                key: json.dumps(copies[key]).encode()
                for key, content in stored.items()
                if json.loads(content) != copies[key]
            }
        )

    def _took_lock(self, mark: bytes, left: str | None) -> bool:
        """Make the lock, or replace the one that was `left`; only one process can do either."""
        try:
            self._put(LOCK, mark, "create" if left is None else {"e_tag": left})
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            return False
        return True

    def _lock_tag(self) -> str | None:
        try:
            with in_words(self.url):
                return obstore.head(self.objects, LOCK)["e_tag"]
        except FileNotFoundError:
            return None

    def _put(self, key: str, content: bytes, mode: Any = "overwrite") -> None:
        with in_words(self.url):
            obstore.put(self.objects, key, content, mode=mode)


class _Objects(ObjectStore[Any]):
    """Zarr's store with errors in words: a network that fails is no damaged cube."""

    def __init__(self, store: Any, *, read_only: bool = False, url: str = "") -> None:
        super().__init__(store, read_only=read_only)
        self.url = url

    def with_read_only(self, read_only: bool = False) -> "_Objects":
        return _Objects(self.store, read_only=read_only, url=self.url)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        with in_words(self.url):
            return await super().get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        with in_words(self.url):
            return await super().exists(key)

    async def list_prefix(self, prefix: str) -> AsyncGenerator[str, None]:
        with in_words(self.url):
            async for key in super().list_prefix(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncGenerator[str, None]:
        with in_words(self.url):
            async for key in super().list_dir(prefix):
                yield key

    async def set(self, key: str, value: Buffer) -> None:
        with in_words(self.url):
            await super().set(key, value)

    async def delete(self, key: str) -> None:
        with in_words(self.url):
            await super().delete(key)


def _at_once(work: Callable[[str], Any], keys: Iterable[str]) -> list[Any]:
    wanted = list(keys)
    if len(wanted) == 1:
        return [work(wanted[0])]
    with ThreadPoolExecutor(REQUESTS_AT_ONCE) as pool:
        return list(pool.map(work, wanted))
