"""Cluster a table once, without a sweep; print the result, and write its labels."""

import csv
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from rich.table import Table as TerminalTable

from pipeline.core import (
    ConstantFeatureWarning,
    adjusted_rand_index,
    imwk,
    rescale,
    silhouette,
)
from pipeline.core.agreement import agreement_with
from pipeline.core.labellings import MOST_ROWS
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_exponent
from pipeline.datasets.tables.table import Table
from pipeline.files import output_errors, replacing
from pipeline.plugins.calls import normalised
from workflows.errors import ArgumentError
from workflows.terminal import as_table, counted

#: More features are left out in the terminal, but not in JSON.
LONGEST_TABLE = 40


@dataclass(frozen=True, eq=False)
class Run:
    """A run of imwk-means, as `ImwkResult` describes it: just computed, or kept in a cube."""

    labels: IntArray
    weights: FloatArray
    converged: bool


@dataclass(frozen=True, eq=False)
class Clustering:
    """A clustering of a table.

    Attributes
    ----------
    table : Table
        The data.
    normalisation : str
        The normalisation of the data. Empty for a consensus of runs, which has none.
    exponents, runs : dict of str to float, and to Run
        The exponent and the run of ``p1`` and, if the data were rescaled, of ``p2``. The last run
        gives the clusters. The only run of k-means++ is ``kmeans``, and that of a consensus
        ``ensemble``, without exponent and weights.
    silhouette : float
        The silhouette of the clusters on the normalised data. NaN if there is only one cluster, or
        no normalisation.
    ari : float or None
        The agreement with the classes. None without labels.
    notices : tuple of str
        What the user should know, such as columns that were dropped.
    """

    table: Table
    normalisation: str
    exponents: dict[str, float]
    runs: dict[str, Run]
    silhouette: float
    ari: float | None
    notices: tuple[str, ...]

    @property
    def labels(self) -> IntArray:
        """The cluster of every row."""
        return self.runs[max(self.runs)].labels


def cluster_table(
    table: Table,
    k: int | None,
    p1: float,
    p2: float | None = None,
    *,
    normalisation: str = "range",
    centre: str = "exact",
    dtype: str = "float64",
    seed: int | np.random.SeedSequence = 0,
) -> Clustering:
    """Cluster a table by imwk-means at `p1` or, given `p2`, at `p2` after rescaling at `p1`.

    Parameters
    ----------
    table : Table
        The table, as `read_table` returns it.
    k : int or None
        The number of clusters. None stands for the number of classes.
    p1, p2 : float
        The Minkowski exponents.
    normalisation, centre, dtype : str
        As for `normalise` and `imwk`.
    seed : int or SeedSequence
        The seed that selects the rows for the silhouette of a large table.

    Returns
    -------
    Clustering
        The runs, and the scores of the last run.

    Raises
    ------
    InvalidInputError
        If `k` is None and the table has no classes, or an argument has a wrong value.

    Examples
    --------
    >>> table = Table(np.array([[0.0, 3.0], [1.0, 9.0], [9.0, 1.0], [10.0, 8.0]]), ("a", "b"))
    >>> found = cluster_table(table, k=2, p1=1.5, p2=3.0)
    >>> found.labels.tolist(), list(found.runs), found.ari
    ([1, 1, 0, 0], ['p1', 'p2'], None)
    """
    given = {"p1": p1} if p2 is None else {"p1": p1, "p2": p2}
    exponents = {name: as_exponent(p, name) for name, p in given.items()}
    k = table.class_count if k is None else k
    if k is None:
        raise ArgumentError(
            "The number of clusters is unknown. Give k, or a table with a column of classes.",
            "k",
            "label",
        )
    X, _ = normalised_table(table, normalisation)
    found = {"p1": imwk(X, k, exponents["p1"], centre, dtype)}
    if "p2" in exponents:
        rescaled = rescale(X, found["p1"].labels, found["p1"].weights)
        found["p2"] = imwk(rescaled, k, exponents["p2"], centre, dtype)
    runs = {name: Run(run.labels, run.weights, run.converged) for name, run in found.items()}
    return clustering_of(table, k, normalisation, exponents, runs, seed)


def clustering_of(
    table: Table,
    k: int,
    normalisation: str,
    exponents: dict[str, float],
    runs: dict[str, Run],
    seed: int | np.random.SeedSequence,
) -> Clustering:
    """Return the clustering that some runs found. The arguments are those of `cluster_table`."""
    X, notices = normalised_table(table, normalisation) if normalisation else (None, table.notices)
    labels = runs[max(runs)].labels
    found = len(np.unique(labels))
    if found < k:
        were = "was" if found == 1 else "were"
        notices = (*notices, f"{counted(found, 'cluster')} {were} found, not {k}.")
    truth = table.classes
    ari = None if truth is None else float(agreement_with(truth, adjusted_rand_index)(labels))
    score = nan if X is None else float(silhouette(X, labels, seed))
    return Clustering(table, normalisation, exponents, runs, score, ari, notices)


def normalised_table(table: Table, name: str) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the normalised data, and notices about the features.

    Examples
    --------
    >>> table = Table(np.array([[0.0, 0.0], [4.0, 0.0], [8.0, 1.0]]), ("size", "rare"))
    >>> normalised_table(table, "robust-z-score")[1]
    ('Features without spread under robust-z-score are all zeros: rare.',)
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConstantFeatureWarning)
        X = normalised(table.X, name)
    flat = [
        feature for feature, values in zip(table.features, X.T, strict=True) if not values.any()
    ]
    if not flat:
        return X, table.notices
    return X, (
        *table.notices,
        f"Features without spread under {name} are all zeros: {', '.join(flat)}.",
    )


def clustering_facts(found: Clustering) -> dict[str, Any]:
    """Return everything except the labels, for JSON; weights by exponent and feature.

    Examples
    --------
    >>> facts = clustering_facts(cluster_table(Table(np.array([[0.0], [1.0]]), ("size",)), 2, 2.0))
    >>> facts["sizes"], facts["weights"], facts["silhouette"]
    ([1, 1], {'p1': {'size': [1.0, 1.0]}}, None)
    """
    features = found.table.features
    return {
        "rows": len(found.table.X),
        "normalisation": found.normalisation or None,
        **found.exponents,
        "sizes": _sizes(found.runs[max(found.runs)]),
        "converged": all(run.converged for run in found.runs.values()),
        "silhouette": None if isnan(found.silhouette) else found.silhouette,
        "ari": found.ari,
        "weights": {
            name: dict(zip(features, run.weights.T.tolist(), strict=True))
            for name, run in found.runs.items()
            if name in found.exponents
        },
        "notices": list(found.notices),
    }


def weight_tables(found: Clustering, advice: str = "") -> Iterator[TerminalTable]:
    r"""Yield a table of weights for each run, with features in rows and clusters in columns.

    Parameters
    ----------
    found : Clustering
        The clustering.
    advice : str
        How to see all features. It is printed below a table that is cut.

    Examples
    --------
    >>> table = Table(np.array([[0.0], [1.0], [9.0]]), ("size",))
    >>> shown = next(weight_tables(cluster_table(table, k=2, p1=2.0)))
    >>> [column.header for column in shown.columns]
    ['feature', 'cluster 0\n2 rows', 'cluster 1\n1 row']
    """
    more = len(found.table.features) - LONGEST_TABLE
    cut = f"{more:,} more features are not shown. {advice}".rstrip() if more > 0 else None
    for name in found.exponents:
        run = found.runs[name]
        what = "that rescale the data" if name != max(found.runs) else "of the clusters"
        header = [f"cluster {c}\n{counted(size, 'row')}" for c, size in enumerate(_sizes(run))]
        rows = (
            [feature, *(f"{weight:.3f}" for weight in weights)]
            for feature, weights in zip(found.table.features, run.weights.T, strict=True)
        )
        yield as_table(
            f"Weights {what}, {name} = {found.exponents[name]:g}",
            ["feature", *header],
            [row for row, _ in zip(rows, range(LONGEST_TABLE), strict=False)],
            ["feature"],
            cut,
        )


def score_line(found: Clustering) -> str:
    """Return the scores as one line.

    Examples
    --------
    >>> table = Table(np.array([[0.0], [1.0], [9.0]]), ("size",), np.array([0, 0, 1]), ("a", "b"))
    >>> score_line(cluster_table(table, k=2, p1=2.0))
    'silhouette 0.5880, adjusted Rand index 1.0000'
    """
    sample = f" (of {MOST_ROWS:,} rows)" if len(found.table.X) > MOST_ROWS else ""
    shown = "-" if isnan(found.silhouette) else f"{found.silhouette:.4f}"
    agreement = "" if found.ari is None else f", adjusted Rand index {found.ari:.4f}"
    return f"silhouette {shown}{sample}{agreement}"


def write_labels(found: Clustering, path: str | PathLike[str]) -> None:
    """Write the cluster of every row, and its class if it has one, as CSV. Rows count from 1.

    The class of noise points is empty.

    Parameters
    ----------
    found : Clustering
        The clustering.
    path : path
        The file, which is made or replaced as a whole.

    Raises
    ------
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> table = Table(np.array([[0.0], [1.0], [9.0]]), ("size",), np.array([0, 0, 1]), ("a", "b"))
    >>> with TemporaryDirectory() as folder:
    ...     write_labels(cluster_table(table, k=2, p1=2.0), f"{folder}/labels.csv")
    ...     Path(f"{folder}/labels.csv").read_text().splitlines()
    ['row,class,cluster', '1,a,0', '2,a,0', '3,b,1']
    """
    classes, names = found.table.classes, found.table.class_names
    columns: dict[str, Sequence[object]] = {"row": range(1, len(found.labels) + 1)}
    if classes is not None:
        named = (*names, "")  # the last one is that of noise points, whose code is -1
        columns["class"] = [named[code] for code in classes]
    columns["cluster"] = found.labels.tolist()
    with output_errors(Path(path)), replacing(Path(path)) as beside:
        _write_csv(beside, [list(columns), *zip(*columns.values(), strict=True)])


def _write_csv(path: Path, rows: Iterable[Sequence[object]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


def _sizes(run: Run) -> list[int]:
    sizes = np.bincount(run.labels, minlength=len(run.weights))
    return [int(size) for size in sizes]
