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
from benchmarks.timing import cost, floor_seconds
from pipeline.core import adjusted_rand_index, kmeans, normalise
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

NORMALISATIONS = ["range", "z-score"]
#: The two normalisations that are measured stand for four, and one data set for 50.
TILES_EACH = 50 * 4 // len(NORMALISATIONS)
RESTARTS = 100
EXPONENTS = sample(10)
#: k-means++ takes about as long on all rescaled data sets: it gets some from all over them.
FOR_KMEANS = slice(2, None, 5)
LABELLINGS = len(GRID) + len(GRID) ** 2 + RESTARTS * (1 + len(GRID))
#: Core-hours of the powers alone on the machine that the targets were set for, and the targets.
THEIR_FLOOR = {"float64": 12.0, "float32": 4.0}
TARGETS = {"float64": 45.0, "float32": 28.0}


class Parts(NamedTuple):
    """CPU time of the parts of a tile, or of many."""

    imwk: float
    floor: float
    floor_all_float64: float
    imwk_float32: float
    floor_float32: float
    kmeans: float
    ari: float


@dataclass(frozen=True)
class Sweep:
    """Core-hours of the whole sweep in one precision.

    The floor is that of the imwk part: each power in the precision it was raised in, and all of
    them in the precision of the run, as the targets' floor was counted.
    """

    precision: str
    imwk: float
    kmeans: float
    ARI: float
    total: float
    floor: float
    floor_one_precision: float
    scaled: float
    target: float


def measure() -> Section:
    """Measure one tile of each configuration and normalisation, in both precisions."""
    tiles = [_tile(config, name) for config in CONFIGURATIONS for name in NORMALISATIONS]
    hours = Parts(*(TILES_EACH * np.sum(tiles, axis=0) / 3600).tolist())
    rows = [
        _sweep("float64", hours.imwk, hours.floor, hours.floor_all_float64, hours),
        _sweep("float32", hours.imwk_float32, hours.floor_float32, hours.floor_float32, hours),
    ]
    remark = (
        "Scaled: the imwk part as on a machine whose floor, in one precision, is "
        f"{THEIR_FLOOR['float64']:g} core-hours in float64 and {THEIR_FLOOR['float32']:g} in "
        "float32; k-means++ and ARI, always in float64, are added as measured."
    )
    return Section("Core-hours of the paper's whole sweep, projected.", rows, remark=remark)


def _sweep(precision: str, imwk: float, floor: float, one_precision: float, hours: Parts) -> Sweep:
    others = hours.kmeans + hours.ari
    scaled = imwk * THEIR_FLOOR[precision] / one_precision + others
    return Sweep(
        precision,
        imwk,
        hours.kmeans,
        hours.ari,
        imwk + others,
        floor,
        one_precision,
        scaled,
        TARGETS[precision],
    )


def _tile(config: str, normalisation: str) -> Parts:
    """Project the CPU seconds of one tile."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, normalisation), CONFIGURATIONS[config].clusters
    double = grid_cost(X, k, EXPONENTS, EXPONENTS)
    single = grid_cost(X, k, EXPONENTS, EXPONENTS, dtype="float32")
    return Parts(
        double.whole.seconds,
        floor_seconds(double.whole),
        floor_seconds(double.whole.all_float64),
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
