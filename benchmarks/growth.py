"""How the cost of a run grows with the data: `python -m benchmarks.growth`."""

from collections.abc import Iterable
from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.tables import markdown
from benchmarks.timing import Cost, cost
from pipeline.core import ImwkResult, imwk_many, normalise
from pipeline.core.types import Float64Array

Shape = tuple[int, int, int]

EXPONENTS = [1.5, 2.5, 4.0]
BY_N: list[Shape] = [(250 * 2**step, 10, 5) for step in range(7)]
BY_M: list[Shape] = [(1000, m, 5) for m in (5, 10, 20, 50, 100)]
BY_K: list[Shape] = [(1000, 10, k) for k in (2, 5, 10, 20, 30)]
LARGE: Shape = (100_000, 20, 10)


@dataclass(frozen=True)
class Growth:
    """Means over the exponents; a cell is one value of one entity."""

    n: int
    m: int
    k: int
    ms: float
    patterns: float
    rounds: float
    million_powers: float
    ns_per_cell: float
    ns_per_cell_and_pattern: float
    ns_per_power: float


def main() -> None:
    """Print a table for each thing that grows, and one for a single large run."""
    for title, shapes in (("n", BY_N), ("m", BY_M), ("k", BY_K)):
        rows = [_measure(shape, EXPONENTS) for shape in shapes]
        print(f"{title} grows\n\n{markdown(rows)}\n\n{_slopes(title, rows)}\n", flush=True)
    print(f"one large run\n\n{markdown([_measure(LARGE, [2.5])])}")


def _measure(shape: Shape, exponents: list[float]) -> Growth:
    X = normalise(_gaussian_clusters(*shape), "range")
    total = cost(lambda: imwk_many(X, shape[2], exponents))
    return _figures(shape, imwk_many(X, shape[2], exponents), total.per(len(exponents)))


def _figures(shape: Shape, runs: list[ImwkResult], each: Cost) -> Growth:
    n, m, _ = shape
    patterns, nanoseconds = _mean(run.patterns for run in runs), 1e9 * each.seconds
    return Growth(
        *shape,
        1000 * each.seconds,
        patterns,
        _mean(run.iterations for run in runs),
        each.powers / 1e6,
        nanoseconds / (n * m),
        nanoseconds / (n * m * patterns),
        nanoseconds / each.powers,
    )


def _mean(values: Iterable[int]) -> float:
    return float(np.mean(list(values)))


def _slopes(name: str, rows: list[Growth]) -> str:
    """Say as which power of what grows the figures grow."""
    grown = np.log([getattr(row, name) for row in rows])
    slopes = {
        figure.replace("_", " "): np.polyfit(
            grown, np.log([getattr(row, figure) for row in rows]), 1
        )[0]
        for figure in ("ms", "patterns", "million_powers", "ns_per_cell_and_pattern")
    }
    written = (f"{figure} {slope:.2f}" for figure, slope in slopes.items())
    return f"Fitted exponents of {name}: {', '.join(written)}."


def _gaussian_clusters(n: int, m: int, k: int) -> Float64Array:
    """Return clusters of like size whose centres lie equally far apart whatever m is."""
    rng = np.random.default_rng(2020)
    centres = sqrt(10 / m) * rng.standard_normal((k, m))
    return np.asarray(centres[np.arange(n) % k] + rng.standard_normal((n, m)))


if __name__ == "__main__":
    main()
