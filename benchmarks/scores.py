"""What the scores of a tile's labellings cost: `python -m benchmarks.scores`."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.metrics import (
    adjusted_mutual_info_score,
    calinski_harabasz_score,
    davies_bouldin_score,
    silhouette_score,
)

from benchmarks.grid import GRID, sample
from benchmarks.tables import Section
from benchmarks.timing import cost, simd_class, timed
from pipeline.core import (
    adjusted_mutual_info,
    adjusted_rand_index,
    calinski_harabasz,
    central_scores,
    davies_bouldin,
    ensembles,
    imwk_grid,
    imwk_many,
    info_score,
    kmeans_many,
    normalise,
    normalised_mutual_info,
    rescale,
    silhouette,
)
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, Dataset, synthetic_dataset

SHAPES = ("1000x6-3", "1000x12-6", "1000x20-10", "1000x20-10 +10NF")
#: A tenth of a tile: so many p1 with all p2, and restarts on each.
P1S, RESTARTS = 4, 100
#: scikit-learn scores one labelling at a time.
THEIRS = 10
#: The number of labellings of imwk-means in a tile, which compete for a choice.
CANDIDATES = len(GRID) + len(GRID) ** 2


@dataclass(frozen=True, eq=False)
class Labellings:
    """A tenth of a tile: its data, its labellings and what they cost."""

    data: Dataset
    X: Float64Array
    k: int
    labels: IntArray
    imwk_seconds: float
    kmeans_seconds: float

    @classmethod
    def of(cls, config: str) -> "Labellings":
        """Compute the labellings of a configuration's first data set."""
        data, k = synthetic_dataset(config, 0, seed=2020), CONFIGURATIONS[config].clusters
        X = normalise(data.X, "range")
        runs, first = timed(lambda: imwk_many(X, k, sample(P1S)))
        Xs = [rescale(X, run.labels, run.weights) for run in runs]
        grid, second = timed(lambda: imwk_grid(Xs, k, GRID))
        restarts, kmeans_cost = timed(lambda: kmeans_many(Xs, k, RESTARTS, range(len(Xs))))
        found = [run.labels for row in (runs, *grid) for run in row]
        labels = np.concatenate([found, *(each.labels for each in restarts)])
        return cls(data, X, k, labels, first.seconds + second.seconds, kmeans_cost.seconds)

    @property
    def candidates(self) -> IntArray:
        """As many labellings as compete in a whole tile."""
        return np.resize(self.labels, (CANDIDATES, self.labels.shape[1]))


@dataclass(frozen=True)
class CostRow:
    """The silhouette in seconds and in per cent of imwk-means, and the other scores over it."""

    data: str
    labellings: int
    imwk_seconds: float
    kmeans_seconds: float
    silhouette_seconds: float
    percent_of_imwk: float
    calinski_harabasz: float
    davies_bouldin: float
    info: float
    ari: float
    ami: float
    nmi: float


@dataclass(frozen=True)
class ChoiceRow:
    """What compares all labellings of a whole tile with each other, in seconds."""

    data: str
    labellings: int
    silhouette_seconds: float
    central_seconds: float
    ensembles_seconds: float


@dataclass(frozen=True)
class OracleRow:
    """scikit-learn's time for a labelling over ours."""

    data: str
    silhouette: float
    calinski_harabasz: float
    davies_bouldin: float
    ami: float


def measure() -> list[Section]:
    """Measure all shapes."""
    found = {config: Labellings.of(config) for config in SHAPES}
    return [
        Section(
            "CPU seconds of a tenth of a tile and of the silhouettes of all its labellings; the "
            "last six columns are the other scores, as parts of the silhouette. NumPy found "
            f"{simd_class()}.",
            [_costs(config, labellings) for config, labellings in found.items()],
        ),
        Section(
            "CPU seconds for as many labellings as a tile of the paper's grid has; the labellings "
            "above are repeated.",
            [_choice(config, labellings) for config, labellings in found.items()],
        ),
        Section(
            "scikit-learn's time for one labelling over ours.",
            [_oracles(config, labellings) for config, labellings in found.items()],
        ),
    ]


def _costs(config: str, of: Labellings) -> CostRow:
    X, original, classes, labels = of.X, of.data.X, of.data.y, of.labels
    whole = _seconds(lambda: silhouette(X, labels))
    others = (
        lambda: calinski_harabasz(X, labels),
        lambda: davies_bouldin(X, labels),
        lambda: info_score(original, labels),
        lambda: adjusted_rand_index(classes, labels),
        lambda: adjusted_mutual_info(classes, labels),
        lambda: normalised_mutual_info(classes, labels),
    )
    percent = 100 * whole / of.imwk_seconds
    parts = (_seconds(other) / whole for other in others)
    return CostRow(config, len(labels), of.imwk_seconds, of.kmeans_seconds, whole, percent, *parts)


def _choice(config: str, of: Labellings) -> ChoiceRow:
    labels = of.candidates
    scores = np.asarray(info_score(of.data.X, labels))
    return ChoiceRow(
        config,
        len(labels),
        _seconds(lambda: silhouette(of.X, labels)),
        _seconds(lambda: central_scores(labels)),
        _seconds(lambda: ensembles(labels, scores, of.k)),
    )


def _oracles(config: str, of: Labellings) -> OracleRow:
    X, classes, labels = of.X, of.data.y, of.labels
    few = labels[:: len(labels) // THEIRS][:THEIRS]
    pairs = (
        (lambda: silhouette(X, labels), lambda: [silhouette_score(X, row) for row in few]),
        (
            lambda: calinski_harabasz(X, labels),
            lambda: [calinski_harabasz_score(X, row) for row in few],
        ),
        (lambda: davies_bouldin(X, labels), lambda: [davies_bouldin_score(X, row) for row in few]),
        (
            lambda: adjusted_mutual_info(classes, labels),
            lambda: [adjusted_mutual_info_score(classes, row) for row in few],
        ),
    )
    ratios = (
        (_seconds(theirs) / len(few)) / (_seconds(ours) / len(labels)) for ours, theirs in pairs
    )
    return OracleRow(config, *ratios)


def _seconds(work: Callable[[], object]) -> float:
    return cost(work).seconds


if __name__ == "__main__":
    for section in measure():
        print(section.as_markdown(), end="\n\n")
