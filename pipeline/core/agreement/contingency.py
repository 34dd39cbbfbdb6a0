"""Contingency tables: how many entities of each class are in each cluster."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.labellings import in_batches
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_codes, as_labels, code_count

#: A contingency table is counted densely while it has at most this many cells per entity.
DENSE_CELLS_PER_ENTITY = 4

#: Adds up something about counts over the last axis; it is 0 for a count of 0.
Total = Callable[[IntArray], NDArray[Any]]
#: Takes classes (n,) and returns what rates labellings (r, n) by them; all are codes.
Preparation = Callable[[IntArray], Callable[[IntArray], Float64Array]]


def compared(truth: ArrayLike, labels: ArrayLike, prepare: Preparation) -> float | Float64Array:
    """Check classes and labels, and score some labellings at a time."""
    classes, labellings = as_labels(truth, "truth"), as_labels(labels, "labels")
    if classes.ndim != 1 or labellings.ndim not in (1, 2) or len(classes) != labellings.shape[-1]:
        raise InvalidInputError(
            f"truth and labels have the shapes {classes.shape} and {labellings.shape}. "
            "Give truth as (n,) and labels as (n,) or (r, n), with the same n."
        )
    score = prepare(as_codes(classes))
    values = in_batches(as_codes(np.atleast_2d(labellings)), lambda some, _: score(some))
    return float(values[0]) if labellings.ndim == 1 else values


def totals(truth: IntArray, rows: IntArray, total: Total) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the total over the cells of each row's contingency table, and over its clusters.

    Examples
    --------
    >>> totals(np.array([0, 0, 1]), np.array([[0, 1, 1]]), lambda counts: counts.max(axis=-1))
    (array([1]), array([2]))
    """
    classes, clusters = code_count(truth), code_count(rows)
    if classes * clusters > DENSE_CELLS_PER_ENTITY * truth.size:
        in_cells = [total(_cell_counts(row * classes + truth)) for row in rows]
        in_clusters = [total(np.bincount(row)) for row in rows]
        return np.array(in_cells), np.array(in_clusters)
    cells = (np.arange(len(rows))[:, np.newaxis] * clusters + rows) * classes + truth
    table = np.bincount(cells.ravel(), minlength=len(rows) * clusters * classes)
    table = table.reshape(len(rows), clusters, classes)
    return total(table.reshape(len(rows), -1)), total(table.sum(axis=2))


def _cell_counts(cells: IntArray) -> IntArray:
    return np.asarray(np.unique(cells, return_counts=True)[1])
