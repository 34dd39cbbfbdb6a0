"""Scores from the means of clusters and the spread around them."""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.labellings import scored
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import as_matrix, refuse_unfit_powers


def calinski_harabasz(X: ArrayLike, labels: ArrayLike) -> float | Float64Array:
    """Compute the spread between clusters over the spread within them, per degree of freedom.

    Parameters
    ----------
    X, labels
        As for `silhouette`.

    Returns
    -------
    float or ndarray, shape (r,)
        At least 0, one value for each labelling. As in scikit-learn it is 1 if all members of each
        cluster are equal. NaN if there is one cluster only, or if all entities are alone.

    Examples
    --------
    >>> X = [[0.0], [0.2], [5.0], [5.2]]
    >>> calinski_harabasz(X, [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]]).round(4).tolist()
    [1250.0, 0.0032, nan]
    """
    features = _centred_features(X)
    return scored(labels, features.shape[1], lambda some, k: _variance_ratios(features, some, k))


def davies_bouldin(X: ArrayLike, labels: ArrayLike) -> float | Float64Array:
    """Compute how far clusters overlap with their most similar other cluster, on average.

    Parameters
    ----------
    X, labels
        As for `silhouette`.

    Returns
    -------
    float or ndarray, shape (r,)
        At least 0, lower is better; one value for each labelling. Two clusters are as similar as
        the mean distances of their members to their own means, added up, over the distance of the
        means. It is infinite if two means are equal, where scikit-learn ignores the pair. NaN if
        there is one cluster only, or if all entities are alone.

    Examples
    --------
    >>> X = [[0.0], [0.2], [5.0], [5.2]]
    >>> davies_bouldin(X, [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]]).round(4).tolist()
    [0.04, 25.0, nan]
    """
    features = _centred_features(X)
    return scored(labels, features.shape[1], lambda some, k: _overlaps(features, some, k))


def can_be_compared(sizes: IntArray) -> BoolArray:
    """Return which labellings, with clusters of `sizes` (r, k), have two clusters and a pair.

    Examples
    --------
    >>> can_be_compared(np.array([[2, 1, 0], [3, 0, 0], [1, 1, 1]])).tolist()
    [True, False, False]
    """
    return np.asarray((np.count_nonzero(sizes, axis=1) > 1) & (sizes.max(axis=1) > 1))


def _centred_features(X: ArrayLike) -> Float64Array:
    matrix = as_matrix(X)
    refuse_unfit_powers(matrix, 2)
    return np.ascontiguousarray((matrix - matrix.mean(axis=0)).T)


def _variance_ratios(features: Float64Array, labels: IntArray, k: int) -> Float64Array:
    """Return the scores, with every entity measured from the first member of its cluster.

    So equal members have no spread, whatever rounding does. The first member is never so far from
    the mean that the difference of sums below could lose more than n units in the last place.
    """
    r, n = labels.shape
    cells = k * np.arange(r)[:, np.newaxis] + labels
    sizes, first = np.bincount(cells.ravel(), minlength=r * k), _first_members(cells, r * k)
    squares, moved, between = np.zeros((r, n)), np.zeros(r * k), np.zeros(r * k)
    for feature in features:
        origin = feature[first]
        offsets = feature - origin[cells]
        shift = np.bincount(cells.ravel(), offsets.ravel(), r * k) / np.maximum(sizes, 1)
        squares += offsets * offsets
        moved += sizes * shift * shift
        between += sizes * np.square(origin + shift)
    within = squares.sum(axis=1) - _sums_in_order(moved, r)
    clusters = np.count_nonzero(sizes.reshape(r, k), axis=1)
    below = np.where(within > 0, within, 1.0) * np.maximum(clusters - 1, 1)
    ratios = np.where(within > 0, _sums_in_order(between, r) * (n - clusters) / below, 1.0)
    return np.where(can_be_compared(sizes.reshape(r, k)), ratios, np.nan)


def _overlaps(features: Float64Array, labels: IntArray, k: int) -> Float64Array:
    r, n = labels.shape
    cells = k * np.arange(r)[:, np.newaxis] + labels
    sizes, first = np.bincount(cells.ravel(), minlength=r * k), _first_members(cells, r * k)
    squares, means = np.zeros((r, n)), np.zeros((len(features), r, k))
    for feature, mean in zip(features, means, strict=True):
        origin = feature[first]
        offsets = feature - origin[cells]  # equal members have no spread, whatever rounding does
        shift = np.bincount(cells.ravel(), offsets.ravel(), r * k) / np.maximum(sizes, 1)
        squares += np.square(offsets - shift[cells])
        mean[:] = (origin + shift).reshape(r, k)
    distances = np.sqrt(squares, out=squares).ravel()
    spreads = np.bincount(cells.ravel(), distances, r * k) / np.maximum(sizes, 1)
    sizes = sizes.reshape(r, k)
    worst = np.sort(_most_similar(means, spreads.reshape(r, k), sizes > 0), axis=1)
    values = _sums_in_order(worst.ravel(), r) / np.count_nonzero(sizes, axis=1)
    return np.where(can_be_compared(sizes), values, np.nan)


def _most_similar(means: Float64Array, spreads: Float64Array, there: BoolArray) -> Float64Array:
    """Return the largest similarity of each cluster (r, k) to another; 0 if it is empty."""
    r, k = spreads.shape
    similar = np.zeros((r, k))
    for cluster in range(k):
        squares = np.zeros((r, k))
        for mean in means:
            squares += np.square(mean - mean[:, [cluster]])
        pairs = there & there[:, [cluster]]
        pairs[:, cluster] = False
        with np.errstate(divide="ignore", invalid="ignore"):  # equal means
            ratios = np.where(
                squares > 0, (spreads + spreads[:, [cluster]]) / np.sqrt(squares), np.inf
            )
        similar[:, cluster] = ratios.max(axis=1, initial=0.0, where=pairs)
    return similar


def _first_members(cells: IntArray, count: int) -> IntArray:
    """Return the first entity in each of `count` clusters, of all labellings `cells` (r, n)."""
    r, n = cells.shape
    first = np.zeros(count, dtype=np.int64)
    first[cells.ravel()[::-1]] = np.tile(np.arange(n)[::-1], r)  # the last one written stays
    return first


def _sums_in_order(each: Float64Array, r: int) -> Float64Array:
    """Add up `r` equal parts of an array, in order, so that empty clusters change no bit."""
    return np.asarray(np.bincount(np.repeat(np.arange(r), len(each) // r), each), np.float64)
