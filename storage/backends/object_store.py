"""Zarr's store for objects, with errors that say what to do.

Without it, Zarr would report a network failure as a damaged cube.
"""

from collections.abc import AsyncGenerator
from typing import Any

from zarr.abc.store import ByteRequest
from zarr.core.buffer import Buffer, BufferPrototype
from zarr.storage import ObjectStore

from storage.backends.object_errors import request_errors


class CheckedObjectStore(ObjectStore[Any]):
    """An `ObjectStore` that raises `CubeError` where a request fails."""

    def __init__(self, store: Any, *, read_only: bool = False, url: str = "") -> None:
        super().__init__(store, read_only=read_only)
        self.url = url

    def with_read_only(self, read_only: bool = False) -> "CheckedObjectStore":
        """Return the same store, read-only or not."""
        return CheckedObjectStore(self.store, read_only=read_only, url=self.url)

    async def get(
        self, key: str, prototype: BufferPrototype, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        """Return an object's content, or None if it does not exist."""
        with request_errors(self.url):
            return await super().get(key, prototype, byte_range)

    async def exists(self, key: str) -> bool:
        """Return whether an object exists."""
        with request_errors(self.url):
            return await super().exists(key)

    async def list_prefix(self, prefix: str) -> AsyncGenerator[str, None]:
        """Yield the keys of all objects below a prefix."""
        with request_errors(self.url):
            async for key in super().list_prefix(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncGenerator[str, None]:
        """Yield the names directly below a prefix."""
        with request_errors(self.url):
            async for key in super().list_dir(prefix):
                yield key

    async def set(self, key: str, value: Buffer) -> None:
        """Create or replace an object."""
        with request_errors(self.url):
            await super().set(key, value)

    async def delete(self, key: str) -> None:
        """Remove an object."""
        with request_errors(self.url):
            await super().delete(key)
