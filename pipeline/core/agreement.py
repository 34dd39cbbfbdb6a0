"""The adjusted Rand index, of one labelling or of many at once."""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_codes, as_labels, code_count

#: A contingency table is counted densely while it has at most this many cells per entity.
DENSE_CELLS_PER_ENTITY = 4


def adjusted_rand_index(truth: ArrayLike, labels: ArrayLike) -> float | Float64Array:
    """Compute how well labellings agree with the true classes, corrected for chance.

    Parameters
    ----------
    truth : array_like, shape (n,)
        True class of every entity: numbers or strings.
    labels : array_like, shape (n,) or (r, n)
        One labelling, or `r` of them in rows.

    Returns
    -------
    float or ndarray, shape (r,)
        1 for equal partitions, about 0 for independent ones; one value for each labelling.

    Examples
    --------
    >>> adjusted_rand_index(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> adjusted_rand_index([0, 0, 1, 1], [[0, 0, 1, 1], [0, 1, 0, 1]]).tolist()
    [1.0, -0.5]
    """
    classes, labellings = as_labels(truth, "truth"), as_labels(labels, "labels")
    if classes.ndim != 1 or labellings.ndim not in (1, 2) or len(classes) != labellings.shape[-1]:
        raise InvalidInputError(
            f"truth and labels have the shapes {classes.shape} and {labellings.shape}. "
            "Give truth as (n,) and labels as (n,) or (r, n), with the same n."
        )
    truth_codes, rows = as_codes(classes), as_codes(np.atleast_2d(labellings))
    values = _index(_class_pairs(truth_codes), *_pair_counts(truth_codes, rows), len(classes))
    return float(values[0]) if labellings.ndim == 1 else values


def _class_pairs(codes: IntArray) -> int:
    return int(np.square(np.bincount(codes)).sum())


def _pair_counts(truth: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """Return how many ordered pairs are together in both partitions, and in the row's alone."""
    classes, clusters = code_count(truth), code_count(rows)
    if classes * clusters > DENSE_CELLS_PER_ENTITY * truth.size:
        together = np.array([_sparse_pairs(row * classes + truth) for row in rows], dtype=np.int64)
        in_row = np.array([_class_pairs(row) for row in rows], dtype=np.int64)
        return together, in_row
    cells = (np.arange(len(rows))[:, np.newaxis] * clusters + rows) * classes + truth
    table = np.bincount(cells.ravel(), minlength=len(rows) * clusters * classes)
    table = table.reshape(len(rows), clusters, classes)
    return np.square(table).sum(axis=(1, 2)), np.square(table.sum(axis=2)).sum(axis=1)


def _sparse_pairs(cells: IntArray) -> int:
    return int(np.square(np.unique(cells, return_counts=True)[1]).sum())


def _index(truth: int, together: IntArray, in_row: IntArray, n: int) -> Float64Array:
    """Compute the index from pair counts, which are exact integers up to n = 3e9.

    Sums of products of non-negative counts lose no digits. The textbook formula subtracts nearly
    equal products where almost all entities share a cluster.
    """
    both = (together - n).astype(np.float64)
    only_row = (in_row - together).astype(np.float64)
    only_truth = (truth - together).astype(np.float64)
    neither = (n * n - truth - in_row + together).astype(np.float64)
    above = 2 * (both * neither - only_row * only_truth)
    below = (both + only_truth) * (only_truth + neither) + (both + only_row) * (only_row + neither)
    equal = (only_row == 0) & (only_truth == 0)
    return np.where(equal, 1.0, above / np.where(equal, 1.0, below))
