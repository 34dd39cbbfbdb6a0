"""What label-free scores add to a tile: `python -m benchmarks.scores`."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import calinski_harabasz_score, silhouette_score

from benchmarks.grid import GRID, sample
from benchmarks.tables import Section
from benchmarks.timing import simd_class, timed
from pipeline.core import calinski_harabasz, imwk_grid, imwk_many, kmeans_many, normalise, rescale
from pipeline.core.scores import Silhouettes
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

SHAPES = ("1000x6-3", "1000x12-6", "1000x20-10", "1000x20-10 +10NF")
#: A tenth of a tile: so many p1 with all p2, and restarts on each.
P1S, RESTARTS = 4, 100
#: scikit-learn scores one labelling at a time.
THEIRS = 10


@dataclass(frozen=True)
class Row:
    """A tenth of a tile: its labellings, what they cost, and what their scores cost."""

    data: str
    labellings: int
    imwk_seconds: float
    kmeans_seconds: float
    silhouette_seconds: float
    calinski_harabasz_seconds: float
    percent_of_imwk: float
    sklearn_silhouette: float
    sklearn_calinski_harabasz: float


def measure() -> Section:
    """Measure all shapes."""
    return Section(
        "CPU seconds of a tenth of a tile and of both scores of all its labellings; last two "
        f"columns: scikit-learn's time over ours. NumPy found {simd_class()}.",
        [_row(config) for config in SHAPES],
    )


def _row(config: str) -> Row:
    X = normalise(synthetic_dataset(config, 0, seed=2020).X, "range")
    k = CONFIGURATIONS[config].clusters
    runs, first = timed(lambda: imwk_many(X, k, sample(P1S)))
    Xs = [rescale(X, run.labels, run.weights) for run in runs]
    grid, second = timed(lambda: imwk_grid(Xs, k, GRID))
    restarts, kmeans_cost = timed(lambda: kmeans_many(Xs, k, RESTARTS, range(len(Xs))))
    found = [run.labels for row in (runs, *grid) for run in row]
    labels = np.concatenate([found, *(each.labels for each in restarts)])
    _, silhouettes = timed(lambda: Silhouettes(X).of(labels))
    _, ratios = timed(lambda: calinski_harabasz(X, labels))
    theirs = _theirs(X, labels[:: len(labels) // THEIRS][:THEIRS])
    imwk_seconds = first.seconds + second.seconds
    each = silhouettes.per(len(labels)).seconds, ratios.per(len(labels)).seconds
    return Row(
        config,
        len(labels),
        imwk_seconds,
        kmeans_cost.seconds,
        silhouettes.seconds,
        ratios.seconds,
        100 * (silhouettes.seconds + ratios.seconds) / imwk_seconds,
        theirs[0] / each[0],
        theirs[1] / each[1],
    )


def _theirs(X: Float64Array, labels: IntArray) -> tuple[float, float]:
    """Return scikit-learn's seconds for a labelling, of each score."""
    _, silhouettes = timed(lambda: [silhouette_score(X, row) for row in labels])
    _, ratios = timed(lambda: [calinski_harabasz_score(X, row) for row in labels])
    return silhouettes.per(len(labels)).seconds, ratios.per(len(labels)).seconds


if __name__ == "__main__":
    print(measure().as_markdown())
