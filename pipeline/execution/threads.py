"""Limit linear algebra to one thread, because the rounding of products depends on the number."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from threading import Lock

from threadpoolctl import ThreadpoolController


@cache
def _blas(loaded: bool) -> ThreadpoolController:  # noqa: ARG001 - part of the cache's key
    """Find the libraries to limit, once: it takes longer than anything else around a block.

    Plug-ins load further ones, such as scikit-learn's, so that these are found in a second search.
    """
    return ThreadpoolController()


class _Limit:
    """A limit for the process: set when the first user enters, lifted when the last one leaves."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._users = 0
        self._limits = ExitStack()

    def enter(self, plugins: bool) -> None:
        with self._lock:
            if self._users == 0 or plugins:
                self._limits.enter_context(_blas(plugins).limit(limits=1))
            self._users += 1

    def leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limits.close()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread(*, plugins: bool = False) -> Iterator[None]:
    """Limit NumPy's BLAS to one thread until every user of this context has left it.

    With `plugins`, also limit the libraries of plug-ins, which are loaded before.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> with one_blas_thread():
    ...     [pool["num_threads"] for pool in threadpool_info() if "numpy" in pool["filepath"]]
    [1]
    """
    _LIMIT.enter(plugins)
    try:
        yield
    finally:
        _LIMIT.leave()
