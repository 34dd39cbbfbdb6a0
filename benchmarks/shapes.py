"""The paper's six shapes: time of a run, against the floor, plain NumPy and scikit-learn."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.plain import plain_imwk
from benchmarks.tables import Section
from benchmarks.timing import Cost, cost, floor_seconds, simd_class, timed
from pipeline.core import adjusted_rand_index, imwk_grid, imwk_many, kmeans, normalise, rescale
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

SHAPES = [
    name
    for name, configuration in CONFIGURATIONS.items()
    if configuration.noise in ("none", "uniform")
]
RESCALING_EXPONENTS = [round(1.2 + 0.2 * step, 1) for step in range(20)]
EXPONENTS = [1.1, 1.5, 1.9, 2.3, 2.7, 3.1, 3.5, 3.9, 4.3, 4.7]
#: The data sets that plain NumPy gets, some from all over them: one for each turn.
FOR_PLAIN = slice(1, None, 4)
RESTARTS = 100
LABELLINGS = 1000


@dataclass(frozen=True)
class Shape:
    """Figures of one shape: CPU milliseconds a run, our time to a floor, other times to ours."""

    data: str
    ms: float
    ms_float32: float
    million_powers: float
    in_float32: float
    to_floor: float
    to_floor_of_log_and_exp: float
    fixed_step: float
    plain_NumPy: float  # noqa: N815 (the name is a heading)
    sklearn_kmeans: float
    sklearn_ARI: float  # noqa: N815


def measure() -> Section:
    """Measure all six shapes."""
    rows = [_measure(config) for config in SHAPES]
    summary = _over_all(rows)
    caption = (
        "CPU time of one run in float64, one thread. Floor: the powers alone, each in the "
        "precision in which it was raised, as the core raises it, or by log, multiply and exp. "
        "Last four columns: the time of fixed-step centres and of others' programs over that of "
        f"exact centres. NumPy found {simd_class()}."
    )
    remark = (
        "Over all shapes: {to_floor:.2f} times the floor ({to_floor_of_log_and_exp:.2f} times that "
        "of log and exp); fixed-step {fixed_step:.2f} times as long, plain NumPy "
        "{plain_NumPy:.1f} times, float64 {float64_to_float32:.2f} times as long as float32."
    )
    return Section(caption, rows, summary, remark.format(**summary))


def _measure(config: str) -> Shape:
    """Measure one shape, all back to back."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, "range"), CONFIGURATIONS[config].clusters
    runs = imwk_many(X, k, RESCALING_EXPONENTS)
    turns = _turns([rescale(X, run.labels, run.weights) for run in runs], k)
    middle = _Turn(*np.median(turns.seconds, axis=0))
    return Shape(
        config,
        1000 * middle.exact,
        1000 * middle.single,
        turns.cost.powers / 1e6,
        turns.cost.float32 / 1e6,
        middle.exact / middle.floor,
        middle.exact / middle.floor_of_log_and_exp,
        middle.fixed / middle.exact,
        float(np.mean([turn.plain for turn in turns.seconds])) / middle.exact,
        _kmeans_ratio(X, k),
        _ari_ratio(X, k, data.y),
    )


class _Turn(NamedTuple):
    """CPU seconds of one run of each kind, and of the powers of the first alone."""

    exact: float
    single: float
    fixed: float
    plain: float
    floor: float
    floor_of_log_and_exp: float


class _Turns(NamedTuple):
    """The seconds of all turns, and the cost of a run with exact centres in float64."""

    seconds: list[_Turn]
    cost: Cost


def _turns(Xs: list[Float64Array], k: int) -> _Turns:
    """Measure runs in turns, for the machine may be slower at one time than at another.

    Plain NumPy is too slow for all of the data sets: it gets one a turn.
    """
    found = []
    for X in Xs[FOR_PLAIN]:
        exact = _run(Xs, k)
        others = _run(Xs, k, dtype="float32"), _run(Xs, k, centre="fixed-step")
        floors = floor_seconds(exact), floor_seconds(exact, base_e=True)
        single, fixed = (each.seconds for each in others)
        found.append(_Turn(exact.seconds, single, fixed, _plain_seconds(X, k), *floors))
    return _Turns(found, exact)


def _run(Xs: list[Float64Array], k: int, **options: str) -> Cost:
    whole = timed(lambda: imwk_grid(Xs, k, EXPONENTS, **options))[1]
    return whole.per(len(Xs) * len(EXPONENTS))


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
    exact = np.array([row.ms for row in rows])

    def summed(of: str, inverse: bool = False) -> float:
        ratios = np.array([getattr(row, of) for row in rows])
        return float((exact / ratios if inverse else exact * ratios).sum())

    return {
        "to_floor": exact.sum() / summed("to_floor", inverse=True),
        "to_floor_of_log_and_exp": exact.sum() / summed("to_floor_of_log_and_exp", inverse=True),
        "fixed_step": summed("fixed_step") / exact.sum(),
        "plain_NumPy": summed("plain_NumPy") / exact.sum(),
        "float64_to_float32": exact.sum() / sum(row.ms_float32 for row in rows),
    }
