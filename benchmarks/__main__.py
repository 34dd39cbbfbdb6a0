"""Time the core on the paper's six shapes: `make bench`."""

import json
from dataclasses import asdict, dataclass

import click
import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from benchmarks.plain import plain_imwk
from benchmarks.timing import counted_powers, floor_seconds, seconds
from pipeline.core import adjusted_rand_index, imwk_grid, imwk_many, kmeans, normalise, rescale
from pipeline.core.validation import FloatArray, IntArray
from pipeline.datasets import CONFIGURATIONS, synthetic_dataset

SHAPES = [
    name for name, configuration in CONFIGURATIONS.items() if configuration.noise in ("none", "NF")
]
RESCALING_EXPONENTS = [1.3, 1.8, 2.3, 2.8, 3.3, 3.8, 4.3, 4.8]
EXPONENTS = [1.1, 1.5, 1.9, 2.3, 2.7, 3.1, 3.5, 3.9, 4.3, 4.7]
RESTARTS = 100
LABELLINGS = 1000


@dataclass(frozen=True)
class Row:
    """Figures of one shape; times are CPU milliseconds a run, ratios are theirs to ours."""

    data: str
    float64: float
    float32: float
    million_powers: float
    to_floor: float
    to_floor_float32: float
    plain_to_ours: float
    sklearn_kmeans_to_ours: float
    sklearn_ari_to_ours: float


def measure(config: str) -> Row:
    """Measure one shape, all back to back."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, "range"), CONFIGURATIONS[config].clusters
    runs = imwk_many(X, k, RESCALING_EXPONENTS)
    Xs = [rescale(X, run.labels, run.weights) for run in runs]
    count = len(Xs) * len(EXPONENTS)
    double = seconds(lambda: imwk_grid(Xs, k, EXPONENTS), times=3) / count
    single = seconds(lambda: imwk_grid(Xs, k, EXPONENTS, dtype="float32"), times=3) / count
    plain = seconds(lambda: [plain_imwk(Xs[2], k, p) for p in EXPONENTS], 1) / len(EXPONENTS)
    elements = powers_per_run(Xs, k, "float64")
    return Row(
        config,
        1000 * double,
        1000 * single,
        elements / 1e6,
        double / floor_seconds(elements, "float64"),
        single / floor_seconds(powers_per_run(Xs, k, "float32"), "float32"),
        plain / double,
        kmeans_ratio(X, k),
        ari_ratio(X, k, data.y),
    )


def powers_per_run(Xs: list[FloatArray], k: int, dtype: str) -> int:
    """Count the elements that one run raises to a power, on average."""
    with counted_powers() as counts:
        imwk_grid(Xs, k, EXPONENTS, dtype=dtype)
    return sum(counts) // (len(Xs) * len(EXPONENTS))


def kmeans_ratio(X: FloatArray, k: int) -> float:
    """Return scikit-learn's time for all restarts of k-means++ over ours."""
    theirs = KMeans(k, n_init=RESTARTS, algorithm="lloyd", tol=0, max_iter=10_000, random_state=1)
    return seconds(lambda: theirs.fit(X)) / seconds(lambda: kmeans(X, k, RESTARTS, seed=1))


def ari_ratio(X: FloatArray, k: int, truth: IntArray) -> float:
    """Return scikit-learn's time for many adjusted Rand indices over ours."""
    labels = kmeans(X, k, LABELLINGS, seed=1).labels
    some = labels[:: LABELLINGS // 100]
    theirs = seconds(lambda: [adjusted_rand_score(truth, row) for row in some], 1) * 10
    return theirs / seconds(lambda: adjusted_rand_index(truth, labels))


def print_table(rows: list[Row]) -> None:
    """Print the figures for people, with the summed ratios below."""
    table = Table(title="CPU time in one thread; floor: the powers alone (log, multiply, exp)")
    headings = ["data", "ms a run", "float32", "powers, 1e6", "to floor", "float32", "plain NumPy"]
    for heading in [*headings, "k-means++", "ARI"]:
        table.add_column(heading, justify="right", no_wrap=heading == "data")
    for row in rows:
        values = list(asdict(row).values())
        table.add_row(values[0], *(f"{value:.3g}" for value in values[1:]))
    ours = np.array([row.float64 for row in rows])
    floor = ours / [row.to_floor for row in rows]
    plain = ours * [row.plain_to_ours for row in rows]
    single = np.array([row.float32 for row in rows])
    Console(width=110).print(table)
    print(
        f"over all shapes: {ours.sum() / floor.sum():.2f} times the floor; plain NumPy takes "
        f"{plain.sum() / ours.sum():.1f} times as long, float64 {ours.sum() / single.sum():.2f} "
        "times as long as float32; k-means++ and ARI: ratio to scikit-learn"
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(as_json: bool) -> None:
    """Measure the six shapes and print one table."""
    rows = [measure(config) for config in SHAPES]
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
    else:
        print_table(rows)


if __name__ == "__main__":
    main()
