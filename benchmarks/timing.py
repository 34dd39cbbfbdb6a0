"""How time is taken here: CPU time of this process, in one thread, the median of several."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from statistics import median
from time import process_time
from unittest.mock import patch

import numpy as np

from pipeline.core.validation import FloatArray

#: Every module of the core that raises data to a power.
USERS_OF_POWERS = [
    f"pipeline.core.{name}" for name in ("minkowski", "centres", "roots", "patterns")
]
#: The floor is timed on arrays that stay in the cache.
FLOOR_CELLS = 40_000


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the median CPU time of a few calls."""
    spent = []
    for _ in range(times):
        start = process_time()
        work()
        spent.append(process_time() - start)
    return median(spent)


@contextmanager
def counted_powers() -> Iterator[list[int]]:
    """Count the elements that the core raises to a power: their number per call, in a list."""
    modules = [import_module(name) for name in USERS_OF_POWERS]
    powers, counts = modules[0].powers, list[int]()

    def counting(differences: FloatArray, p: FloatArray, out: FloatArray) -> FloatArray:
        counts.append(out.size)
        return np.asarray(powers(differences, p, out))

    with ExitStack() as stack:
        for module in modules:
            stack.enter_context(patch.object(module, "powers", counting))
        yield counts


def floor_seconds(elements: int, dtype: str) -> float:
    """Return the CPU time of log, multiply and exp alone over that many elements."""
    x = np.random.default_rng(1).uniform(0.01, 1, size=FLOOR_CELLS).astype(dtype)
    out, p = np.empty_like(x), x.dtype.type(2.7)

    def powers() -> None:
        np.log(x, out=out)
        np.multiply(out, p, out=out)
        np.exp(out, out=out)

    return seconds(powers, times=201) * elements / FLOOR_CELLS
