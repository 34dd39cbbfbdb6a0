"""Time the core on the paper's six shapes, beside scikit-learn where that has the same function."""

from collections.abc import Callable
from statistics import median
from time import process_time

import numpy as np
from rich.console import Console
from rich.table import Table
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from pipeline.core import adjusted_rand_index, imwk_many, kmeans, normalise
from pipeline.datasets import synthetic_dataset

SHAPES = [
    "1000x6-3",
    "1000x6-3 +3NF",
    "1000x12-6",
    "1000x12-6 +6NF",
    "1000x20-10",
    "1000x20-10 +10NF",
]
EXPONENTS = [1.4, 2.0, 2.7, 4.1]
RESTARTS = 100


def seconds(work: Callable[[], object], times: int = 3) -> float:
    """Return the median CPU time of a few calls."""
    spent = []
    for _ in range(times):
        start = process_time()
        work()
        spent.append(process_time() - start)
    return median(spent)


def measure(config: str) -> list[str]:
    """Return one row of the table."""
    data = synthetic_dataset(config, 0, seed=2020)
    X, k = normalise(data.X, "range"), len(np.unique(data.y))
    labels = kmeans(X, k, RESTARTS, seed=1).labels
    theirs = KMeans(k, n_init=RESTARTS, algorithm="lloyd", tol=0, max_iter=10_000, random_state=1)
    kmeans_ratio = seconds(lambda: theirs.fit(X)) / seconds(lambda: kmeans(X, k, RESTARTS, seed=1))
    ari_ratio = seconds(
        lambda: [adjusted_rand_score(data.y, row) for row in labels], times=1
    ) / seconds(lambda: adjusted_rand_index(data.y, labels))
    per_run = seconds(lambda: imwk_many(X, k, EXPONENTS)) / len(EXPONENTS)
    return [config, f"{1000 * per_run:.1f}", f"{kmeans_ratio:.1f}", f"{ari_ratio:.0f}"]


def main() -> None:
    """Print the table."""
    table = Table(title="CPU time on one thread; ratios: scikit-learn's time to ours")
    for heading in ("data", "imwk, ms a run", f"k-means++, {RESTARTS} restarts", "ARI"):
        table.add_column(heading, justify="left" if heading == "data" else "right")
    for config in SHAPES:
        table.add_row(*measure(config))
    Console().print(table)


main()
