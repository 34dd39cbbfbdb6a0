"""The quick comparison: the paper's four algorithms on one data set of each configuration."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pipeline.core import adjusted_rand_index, imwk_many, kmeans, normalise, rescale
from pipeline.core.validation import FloatArray, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset
from pipeline.seeds import seed_sequence

SEED = 2020
EXPONENTS = (1.5, 2.0, 3.0)
RESTARTS = 20


@dataclass(frozen=True)
class Comparison:
    """Adjusted Rand indices on one data set: the mean over restarts, the best over exponents."""

    config: str
    kmeans: float
    rescaled_kmeans: float
    imwk: float
    rescaled_imwk: float


def quick_comparison() -> Iterator[Comparison]:
    """Yield one `Comparison` for each of the 12 configurations, in the paper's order.

    Examples
    --------
    >>> next(quick_comparison()).config
    '1000x6-3'
    """
    return map(_compare, CONFIGURATIONS)


def _compare(config: str) -> Comparison:
    data = synthetic_dataset(config, 0, SEED)
    X, k = normalise(data.X, "range"), CONFIGURATIONS[config].clusters
    runs = imwk_many(X, k, EXPONENTS)
    rescaled = [rescale(X, run.labels, run.weights) for run in runs]
    return Comparison(
        config,
        _expected_ari(config, X, k, data.y),
        max(_expected_ari(config, R, k, data.y) for R in rescaled),
        max(_ari(data.y, run.labels) for run in runs),
        max(_ari(data.y, run.labels) for R in rescaled for run in imwk_many(R, k, EXPONENTS)),
    )


def _expected_ari(config: str, X: FloatArray, k: int, truth: IntArray) -> float:
    runs = kmeans(X, k, RESTARTS, seed_sequence(SEED, "kmeans", config))
    return float(np.mean(adjusted_rand_index(truth, runs.labels)))


def _ari(truth: IntArray, labels: IntArray) -> float:
    return float(adjusted_rand_index(truth, labels))
