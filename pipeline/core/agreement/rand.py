"""The adjusted Rand index, of one labelling or of many at once."""

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.agreement.contingency import compared, totals
from pipeline.core.types import Float64Array, IntArray


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
    return compared(truth, labels, lambda classes: partial(_indices, classes))


def pairs_in(counts: IntArray) -> IntArray:
    """Return how many ordered pairs, each entity with itself too, are in groups of some sizes.

    Examples
    --------
    >>> int(pairs_in(np.array([3, 1])))
    10
    """
    return np.asarray(np.square(counts).sum(axis=-1))


def index_of_pairs(
    in_truth: IntArray, together: IntArray, in_row: IntArray, n: int
) -> Float64Array:
    """Compute the index from pair counts, which are exact integers up to n = 3e9.

    Sums of products of non-negative counts lose no digits. The textbook formula subtracts nearly
    equal products where almost all entities share a cluster.
    """
    both = (together - n).astype(np.float64)
    only_row = (in_row - together).astype(np.float64)
    only_truth = (in_truth - together).astype(np.float64)
    neither = (n * n - in_truth - in_row + together).astype(np.float64)
    above = 2 * (both * neither - only_row * only_truth)
    below = (both + only_truth) * (only_truth + neither) + (both + only_row) * (only_row + neither)
    equal = (only_row == 0) & (only_truth == 0)
    return np.where(equal, 1.0, above / np.where(equal, 1.0, below))


def _indices(truth: IntArray, rows: IntArray) -> Float64Array:
    together, in_row = totals(truth, rows, pairs_in)
    return index_of_pairs(pairs_in(np.bincount(truth)), together, in_row, truth.size)
