"""A lock in an object store: an object that only one process can create.

A killed process leaves its lock behind. Another process takes it over after a while.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from time import monotonic, sleep
from typing import Any
from uuid import uuid4

import obstore
from obstore.exceptions import AlreadyExistsError, PreconditionError

from storage.backends.object_errors import request_errors

#: Beside the chunks of an array: Zarr warns of unknown objects in a group.
LOCK = "status/.lock"
#: Seconds after which a lock that did not change is taken for one that a killed process left.
LEASE = 60


@dataclass(frozen=True)
class ObjectLock:
    """The lock on the metadata documents of a cube in an object store."""

    url: str
    objects: Any

    @contextmanager
    def held(self) -> Iterator[None]:
        """Wait for the lock, and take over one that a killed process left."""
        mark, tag, since = uuid4().hex.encode(), None, monotonic()
        while not self._took(mark, tag if monotonic() - since > LEASE else None):
            sleep(0.1)
            found = self._tag()
            if found != tag:
                tag, since = found, monotonic()
        try:
            yield
        finally:
            self._release(mark)

    def _took(self, mark: bytes, left: str | None) -> bool:
        """Create the lock, or replace the one that was `left`; only one process succeeds."""
        mode: Any = "create" if left is None else {"e_tag": left}
        try:
            with request_errors(self.url):
                obstore.put(self.objects, LOCK, mark, mode=mode)
        except (AlreadyExistsError, PreconditionError, FileNotFoundError):
            return False
        return True

    def _tag(self) -> str | None:
        try:
            with request_errors(self.url):
                return obstore.head(self.objects, LOCK)["e_tag"]
        except FileNotFoundError:
            return None

    def _release(self, mark: bytes) -> None:
        """Delete the lock, unless another process has taken it over."""
        with suppress(FileNotFoundError), request_errors(self.url):
            if bytes(obstore.get(self.objects, LOCK).bytes()) == mark:
                obstore.delete(self.objects, LOCK)
