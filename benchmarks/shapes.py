"""The paper's six shapes: time of a run, against the floor, plain NumPy and scikit-learn."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.plain import plain_imwk
from benchmarks.tables import Section
from benchmarks.timing import cost, floor_seconds, simd_class, timed
from pipeline.core import adjusted_rand_index, imwk_grid, imwk_many, kmeans, normalise, rescale
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

SHAPES = [
    name for name, configuration in CONFIGURATIONS.items() if configuration.noise in ("none", "NF")
]
RESCALING_EXPONENTS = [round(1.2 + 0.2 * step, 1) for step in range(20)]
EXPONENTS = [1.1, 1.5, 1.9, 2.3, 2.7, 3.1, 3.5, 3.9, 4.3, 4.7]
#: The data sets that plain NumPy gets, some from all over them: one for each turn.
FOR_PLAIN = slice(1, None, 2)
RESTARTS = 100
LABELLINGS = 1000


@dataclass(frozen=True)
class Shape:
    """Figures of one shape: CPU milliseconds a run, our time to the floor, theirs to ours."""

    data: str
    ms: float
    ms_float32: float
    million_powers: float
    in_float32: float
    to_floor: float
    to_mixed_floor: float
    to_floor_float32: float
    plain_NumPy: float  # noqa: N815 (the name is a heading)
    sklearn_kmeans: float
    sklearn_ARI: float  # noqa: N815


def measure() -> Section:
    """Measure all six shapes."""
    rows = [_measure(config) for config in SHAPES]
    summary = _over_all(rows)
    caption = (
        "CPU time of one run, one thread; floor: log, multiply, exp alone over as many elements "
        "in the run's precision; mixed floor: each in the precision it was raised in, for a "
        "float64 run raises some in float32; "
        f"last three columns: their time over ours. NumPy found {simd_class()}."
    )
    remark = (
        "Over all shapes: {to_floor:.2f} times the floor ({to_mixed_floor:.2f} the mixed one), "
        "float32 {to_floor_float32:.2f} times; "
        "plain NumPy takes {plain_NumPy:.1f} times as long, "
        "float64 {float64_to_float32:.2f} times as long as float32."
    )
    return Section(caption, rows, summary, remark.format(**summary))


def _measure(config: str) -> Shape:
    """Measure one shape, all back to back."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, "range"), CONFIGURATIONS[config].clusters
    runs = imwk_many(X, k, RESCALING_EXPONENTS)
    double, single, plain = _runs([rescale(X, run.labels, run.weights) for run in runs], k)
    return Shape(
        config,
        1000 * double.seconds,
        1000 * single.seconds,
        double.powers / 1e6,
        double.float32 / 1e6,
        double.seconds / double.floor_in_float64,
        double.seconds / double.floor,
        single.seconds / single.floor,
        plain / double.seconds,
        _kmeans_ratio(X, k),
        _ari_ratio(X, k, data.y),
    )


class _Run(NamedTuple):
    """What one of our runs costs, and its powers alone: each in its precision, or in float64."""

    seconds: float
    powers: float
    float32: float
    floor: float
    floor_in_float64: float


def _runs(Xs: list[Float64Array], k: int) -> tuple[_Run, _Run, float]:
    """Return a run in float64, in float32, and the seconds of one in plain NumPy.

    They take turns, for the machine may be slower at one time than at another. Plain NumPy is too
    slow for all of the data sets: it gets one a turn.
    """
    turns = [
        (_run(Xs, k, "float64"), _run(Xs, k, "float32"), _plain_seconds(X, k))
        for X in Xs[FOR_PLAIN]
    ]
    double, single, plain = zip(*turns, strict=True)
    return _Run(*np.median(double, axis=0)), _Run(*np.median(single, axis=0)), np.mean(plain)


def _run(Xs: list[Float64Array], k: int, dtype: str) -> _Run:
    whole = timed(lambda: imwk_grid(Xs, k, EXPONENTS, dtype=dtype))[1]
    one = whole.per(len(Xs) * len(EXPONENTS))
    floors = floor_seconds(one), floor_seconds(one.all_float64)
    return _Run(one.seconds, one.powers, one.float32, *floors)


def _plain_seconds(X: Float64Array, k: int) -> float:
    runs = timed(lambda: [plain_imwk(X, k, p) for p in EXPONENTS])[1]
    return runs.per(len(EXPONENTS)).seconds


def _kmeans_ratio(X: Float64Array, k: int) -> float:
    """Return scikit-learn's time for all restarts of k-means++ over ours."""
    theirs = KMeans(k, n_init=RESTARTS, algorithm="lloyd", tol=0, max_iter=10_000, random_state=1)
    ours = cost(lambda: kmeans(X, k, RESTARTS, seed=1)).seconds
    return cost(lambda: theirs.fit(X)).seconds / ours


def _ari_ratio(X: Float64Array, k: int, truth: IntArray) -> float:
    """Return scikit-learn's time for many adjusted Rand indices over ours."""
    labels = kmeans(X, k, LABELLINGS, seed=1).labels
    some = labels[:: LABELLINGS // 100]
    theirs = cost(lambda: [adjusted_rand_score(truth, row) for row in some]).per(len(some))
    ours = cost(lambda: adjusted_rand_index(truth, labels), times=9).per(len(labels))
    return theirs.seconds / ours.seconds


def _over_all(rows: list[Shape]) -> dict[str, float | str]:
    """Return the ratios of times summed over the shapes."""
    double, single = np.array([row.ms for row in rows]), np.array([row.ms_float32 for row in rows])
    floor = double / [row.to_floor for row in rows]
    mixed = double / [row.to_mixed_floor for row in rows]
    floor_float32 = single / [row.to_floor_float32 for row in rows]
    plain = double * [row.plain_NumPy for row in rows]
    return {
        "to_floor": double.sum() / floor.sum(),
        "to_mixed_floor": double.sum() / mixed.sum(),
        "to_floor_float32": single.sum() / floor_float32.sum(),
        "plain_NumPy": plain.sum() / double.sum(),
        "float64_to_float32": double.sum() / single.sum(),
    }
