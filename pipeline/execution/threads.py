"""Limit linear algebra to one thread, because the rounding of products depends on the number."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits


class _Limit:
    """A limit for the process: set when the first user enters, lifted when the last one leaves."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits: threadpool_limits | None = None

    def enter(self) -> None:
        with self._lock:
            self._users += 1
            if self._limits is None:
                self._limits = threadpool_limits(limits=1)

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._limits is not None:
                self._limits.restore_original_limits()
                self._limits = None


_LIMIT = _Limit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until every user of this context has left it.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     {pool["num_threads"] for pool in threadpool_info()}
    {1}
    """
    _LIMIT.enter()
    try:
        yield
    finally:
        _LIMIT.leave()
