"""One thread for linear algebra while anything is computed: how products round depends on it."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from threadpoolctl import threadpool_limits


class _Limit:
    """The limit is the process's: the first one in sets it, the last one out lifts it."""

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
    """Keep BLAS at one thread until all threads that asked for it are done.

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
