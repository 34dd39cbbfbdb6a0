"""How time is measured: CPU time of this process, in one thread, the median of several calls."""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from time import process_time
from typing import NamedTuple, TypeVar
from unittest.mock import patch

import numpy as np

from pipeline.core import minkowski
from pipeline.core.types import FloatArray

#: The floor is timed on arrays that stay in the cache.
FLOOR_CELLS = 40_000

Result = TypeVar("Result")


class Cost(NamedTuple):
    """CPU time, and how many elements were raised to a power meanwhile, by their precision."""

    seconds: float
    float64: float
    float32: float

    @property
    def powers(self) -> float:
        """Elements raised to a power, in any precision."""
        return self.float64 + self.float32

    @property
    def all_float64(self) -> "Cost":
        """The same as if every power had been raised in float64."""
        return Cost(self.seconds, self.powers, 0.0)

    def per(self, count: int) -> "Cost":
        """Return the cost of one of `count` equal parts."""
        return Cost(*(part / count for part in self))


def timed(work: Callable[[], Result]) -> tuple[Result, Cost]:
    """Return what one call gives, and what it costs."""
    with counted_powers() as counts:
        start = process_time()
        result = work()
        spent = process_time() - start
    return result, Cost(spent, counts["float64"], counts["float32"])


def cost(work: Callable[[], object], times: int = 3) -> Cost:
    """Return the median cost of a few calls."""
    costs = [timed(work)[1] for _ in range(times)]
    return costs[0]._replace(seconds=median(each.seconds for each in costs))


@contextmanager
def counted_powers() -> Iterator[Counter[str]]:
    """Count the elements that the core raises to a power, by the name of their type."""
    powers, counts = minkowski.powers, Counter[str]()

    def counting(differences: FloatArray, p: FloatArray, out: FloatArray) -> FloatArray:
        counts[out.dtype.name] += out.size
        return powers(differences, p, out)

    users = [
        module
        for name, module in sys.modules.items()
        if name.startswith("pipeline.core.") and getattr(module, "powers", None) is powers
    ]
    with ExitStack() as stack:
        for module in users:
            stack.enter_context(patch.object(module, "powers", counting))
        yield counts


def floor_seconds(found: Cost, base_e: bool = False) -> float:
    """Return the CPU time of the powers alone: as many elements of each type, as the core does it.

    With `base_e`, that of log, multiply and exp in both types, as targets were set.
    """
    return sum(
        count * _seconds_of_a_power(dtype, base_e)
        for dtype, count in (("float64", found.float64), ("float32", found.float32))
    )


def _seconds_of_a_power(dtype: str, base_e: bool) -> float:
    x = np.random.default_rng(1).uniform(0.01, 1, size=FLOOR_CELLS).astype(dtype)
    out, p = np.empty_like(x), x.dtype.type(2.7)
    log, exp = (np.log, np.exp) if base_e else minkowski.LOG_AND_EXP[x.dtype]

    def powers() -> None:
        log(x, out=out)
        np.multiply(out, p, out=out)
        exp(out, out=out)

    return cost(powers, times=201).seconds / FLOOR_CELLS


def simd_class() -> str:
    """Name the vector instructions that NumPy found: they decide how fast exp and log are."""
    return " ".join(np.show_config(mode="dicts")["SIMD Extensions"]["found"])
