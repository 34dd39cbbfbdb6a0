"""The paper's whole sweep in core-hours, from a sample of it.

2400 tiles: 12 configurations, 50 data sets of each, 4 normalisations. A tile has imwk-means on the
data for 40 exponents and on the 40 rescaled data sets for 40 each, 100 restarts of k-means++ on
all 41, and an ARI of every labelling.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from benchmarks.grid import GRID, grid_cost, sample
from benchmarks.tables import Section
from benchmarks.timing import cost, floor_seconds, simd_class
from pipeline.core import adjusted_rand_index, kmeans, normalise
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

NORMALISATIONS = ["range", "z-score"]
#: The two normalisations that are measured stand for four, and one data set for 50.
TILES_EACH = 50 * 4 // len(NORMALISATIONS)
RESTARTS = 100
#: As many p1 as a block has, and enough p2 that a run costs what it costs in a block.
P1, P2 = sample(10), sample(20)
#: k-means++ takes about as long on all rescaled data sets: it gets some from all over them.
FOR_KMEANS = slice(2, None, 5)
LABELLINGS = len(GRID) + len(GRID) ** 2 + RESTARTS * (1 + len(GRID))
#: Core-hours in float64 on AVX-512.
MOST, GOAL = 18.0, 14.0


class Parts(NamedTuple):
    """CPU time of the parts of a tile, or of many."""

    imwk: float
    floor: float
    imwk_float32: float
    floor_float32: float
    kmeans: float
    ari: float


@dataclass(frozen=True)
class Sweep:
    """Core-hours of the whole sweep in one precision.

    The floor is that of the imwk part, each power in the precision it was raised in.
    """

    precision: str
    imwk: float
    kmeans: float
    ARI: float
    total: float
    floor: float


def measure() -> Section:
    """Measure one tile of each configuration and normalisation, in both precisions."""
    tiles = [_tile(config, name) for config in CONFIGURATIONS for name in NORMALISATIONS]
    hours = Parts(*(TILES_EACH * np.sum(tiles, axis=0) / 3600).tolist())
    rows = [
        _sweep("float64", hours.imwk, hours.floor, hours),
        _sweep("float32", hours.imwk_float32, hours.floor_float32, hours),
    ]
    return Section(
        f"Core-hours of the paper's whole sweep, projected. NumPy found {simd_class()}.",
        rows,
        {"target": MOST, "goal": GOAL},
        f"Target in float64 on AVX-512: at most {MOST:g} core-hours; goal: {GOAL:g}.",
    )


def _sweep(precision: str, imwk: float, floor: float, hours: Parts) -> Sweep:
    total = imwk + hours.kmeans + hours.ari
    return Sweep(precision, imwk, hours.kmeans, hours.ari, total, floor)


def _tile(config: str, normalisation: str) -> Parts:
    """Project the CPU seconds of one tile."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, normalisation), CONFIGURATIONS[config].clusters
    double = grid_cost(X, k, P1, P2)
    single = grid_cost(X, k, P1, P2, dtype="float32")
    return Parts(
        double.whole.seconds,
        floor_seconds(double.whole),
        single.whole.seconds,
        floor_seconds(single.whole),
        _kmeans_seconds(X, double.Xs[FOR_KMEANS], k),
        _ari_seconds(X, k, data.y),
    )


def _kmeans_seconds(X: Float64Array, Xs: list[Float64Array], k: int) -> float:
    original = cost(lambda: kmeans(X, k, RESTARTS, seed=1), times=1)
    rescaled = cost(lambda: [kmeans(each, k, RESTARTS, seed=1) for each in Xs], times=1)
    return original.seconds + len(GRID) * rescaled.per(len(Xs)).seconds


def _ari_seconds(X: Float64Array, k: int, truth: IntArray) -> float:
    labels = kmeans(X, k, RESTARTS, seed=1).labels
    return LABELLINGS * cost(lambda: adjusted_rand_index(truth, labels)).per(RESTARTS).seconds
