"""The paper's grid of exponents, and what all of it costs, from a sample."""

from dataclasses import dataclass

from benchmarks.timing import Cost, timed
from pipeline.core import imwk_grid, imwk_many, rescale
from pipeline.core.types import Float64Array

#: 1.1, 1.2, ... 5.0, for both p1 and p2.
GRID = [round(1.1 + 0.1 * step, 1) for step in range(40)]


def sample(count: int) -> list[float]:
    """Return exponents spread over the grid, each from the middle of its part of it."""
    width = len(GRID) // count
    return GRID[width // 2 :: width]


@dataclass(frozen=True, eq=False)
class GridCost:
    """Cost of a run on the data, cost of a run on rescaled data, and the rescaled data."""

    original: Cost
    rescaled: Cost
    Xs: list[Float64Array]

    @property
    def whole(self) -> Cost:
        """The cost of the whole grid: every p1 on the data, every (p1, p2) on rescaled data."""
        first, second = len(GRID), len(GRID) ** 2
        pairs = zip(self.original, self.rescaled, strict=True)
        return Cost(*(first * one + second * other for one, other in pairs))


def grid_cost(
    X: Float64Array,
    k: int,
    p1s: list[float],
    p2s: list[float],
    centre: str = "exact",
    dtype: str = "float64",
) -> GridCost:
    """Run a sample of the grid on normalised data."""
    runs, original = timed(lambda: imwk_many(X, k, p1s, centre, dtype))
    Xs = [rescale(X, run.labels, run.weights) for run in runs]
    _, rescaled = timed(lambda: imwk_grid(Xs, k, p2s, centre, dtype))
    return GridCost(original.per(len(p1s)), rescaled.per(len(p1s) * len(p2s)), Xs)
