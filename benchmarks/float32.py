"""Whether float32 changes mean ARIs: `python -m benchmarks.float32`."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from benchmarks.grid import sample
from benchmarks.tables import markdown
from pipeline.core import adjusted_rand_index, imwk_many, normalise
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

DATA_SETS = 10
EXPONENTS = sample(10)
#: Mean ARIs are published with three digits: a smaller difference does not matter.
SMALL = 0.003


@dataclass(frozen=True)
class Comparison:
    """float32 minus float64: mean ARI over data sets and exponents, over data sets its error."""

    data: str
    mean_ARI: float  # noqa: N815 (the name is a heading)
    difference: float
    standard_error: float
    partitions_that_differ: str
    verdict: str


def main() -> None:
    """Print a line for each configuration."""
    print(markdown([_compare(config) for config in CONFIGURATIONS]))


def _compare(config: str) -> Comparison:
    found = [_data_set(config, index) for index in range(DATA_SETS)]
    aris, differences, shares = np.mean(found, axis=0)
    error = float(np.std([each[1] for each in found], ddof=1) / sqrt(DATA_SETS))
    fine = abs(differences) < max(SMALL, 2 * error)
    return Comparison(
        config, aris, differences, error, f"{shares:.0%}", "ok" if fine else "DIFFERENT"
    )


def _data_set(config: str, index: int) -> tuple[float, float, float]:
    """Return mean ARI in float64, difference in float32, and the share of other partitions."""
    data, k = synthetic_dataset(config, index, seed=2020), CONFIGURATIONS[config].clusters
    X = normalise(data.X, "range")
    double, single = _labels(X, k, "float64"), _labels(X, k, "float32")
    before, after = (np.mean(adjusted_rand_index(data.y, rows)) for rows in (double, single))
    same = [adjusted_rand_index(*pair) == 1 for pair in zip(double, single, strict=True)]
    return float(before), float(after - before), 1 - float(np.mean(same))


def _labels(X: Float64Array, k: int, dtype: str) -> IntArray:
    return np.stack([run.labels for run in imwk_many(X, k, EXPONENTS, dtype=dtype)])


if __name__ == "__main__":
    main()
