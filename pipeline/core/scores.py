"""Scores that need no true classes, of many labellings at once."""

from collections.abc import Callable

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.segments import BATCH_SIZE
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import (
    as_codes,
    as_labels,
    as_matrix,
    as_seed_sequence,
    code_count,
    refuse_unfit_powers,
)

#: The silhouette uses all pairs of rows. Of more rows than this, it uses a sample of this size.
MOST_ROWS = 2_000
#: Clusters, and labels, of all labellings that are scored at once: more would leave the cache.
CLUSTERS_TOGETHER, LABELS_TOGETHER = 256, 200_000


def silhouette(
    X: ArrayLike, labels: ArrayLike, seed: int | SeedSequence = 0
) -> float | Float64Array:
    """Compute how much nearer entities are to their own cluster than to the next, on average.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns.
    labels : array_like, shape (n,) or (r, n)
        One labelling, or `r` of them in rows: numbers or strings.
    seed : int or numpy.random.SeedSequence
        Chooses the sample if there are more than 2,000 rows, the same for all labellings.

    Returns
    -------
    float or ndarray, shape (r,)
        -1 to 1, one value for each labelling, from Euclidean distances. An entity alone in its
        cluster counts as 0. NaN if there is one cluster only, or if all entities are alone.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> silhouette(X, [[0, 0, 1, 1], [0, 1, 0, 1], [0, 0, 0, 0]]).round(2).tolist()
    [0.98, -0.49, nan]
    """
    return Silhouettes(X, seed).of(labels)


class Silhouettes:
    """The distances within `X`, which serve all labellings.

    Distances are whole numbers of a small unit, so that sums of them are exact in any order. So no
    bit depends on the order in which a matrix product adds them up.
    """

    def __init__(self, X: ArrayLike, seed: int | SeedSequence = 0) -> None:
        matrix = as_matrix(X)
        refuse_unfit_powers(matrix, 2)
        self.entities = len(matrix)
        self.rows = _sample(len(matrix), seed)
        self.distances = _in_whole_units(_distances(matrix[self.rows]))

    def of(self, labels: ArrayLike) -> float | Float64Array:
        """Return the silhouette of one labelling (n,), or those of many (r, n).

        Examples
        --------
        >>> Silhouettes([[0.0], [1.0], [5.0], [6.0]]).of([["a", "a", "b", "b"]]).round(3)
        array([0.798])
        """
        return _scored(labels, self.entities, lambda some, k: self._means(some[:, self.rows], k))

    def _means(self, labels: IntArray, k: int) -> Float64Array:
        members = labels[:, np.newaxis] == np.arange(k)[:, np.newaxis]  # (r, k, n)
        sums = members.reshape(-1, members.shape[2]).astype(np.float64) @ self.distances
        to_clusters = sums.reshape(members.shape)
        sizes = np.count_nonzero(members, axis=2)
        own_size = np.take_along_axis(sizes, labels, axis=1)
        own = np.take_along_axis(to_clusters, labels[:, np.newaxis], axis=1)[:, 0]
        own /= np.maximum(own_size - 1, 1)  # the mean over the other members
        to_clusters /= np.maximum(sizes, 1)[:, :, np.newaxis]
        to_clusters[members | (sizes == 0)[:, :, np.newaxis]] = np.inf
        next_one = to_clusters.min(axis=1)
        larger = np.maximum(own, next_one)
        with np.errstate(invalid="ignore"):  # infinite where there is no other cluster
            values = (next_one - own) / np.where(larger > 0, larger, 1.0)
        values[own_size == 1] = 0.0
        return np.where(_can_be_compared(sizes), values.mean(axis=1), np.nan)


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
    matrix = as_matrix(X)
    refuse_unfit_powers(matrix, 2)
    features = np.ascontiguousarray((matrix - matrix.mean(axis=0)).T)
    return _scored(labels, len(matrix), lambda some, k: _variance_ratios(features, some, k))


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
    return np.where(_can_be_compared(sizes.reshape(r, k)), ratios, np.nan)


def _first_members(cells: IntArray, count: int) -> IntArray:
    """Return the first entity in each of `count` clusters, of all labellings `cells` (r, n)."""
    r, n = cells.shape
    first = np.zeros(count, dtype=np.int64)
    first[cells.ravel()[::-1]] = np.tile(np.arange(n)[::-1], r)  # the last one written stays
    return first


def _sums_in_order(each: Float64Array, r: int) -> Float64Array:
    """Add up `r` equal parts of an array, in order, so that empty clusters change no bit."""
    return np.asarray(np.bincount(np.repeat(np.arange(r), len(each) // r), each), np.float64)


def _scored(
    labels: ArrayLike, n: int, score: Callable[[IntArray, int], Float64Array]
) -> float | Float64Array:
    """Check labels of `n` entities, and score some labellings at a time."""
    given = as_labels(labels, "labels")
    if given.ndim not in (1, 2) or given.shape[-1] != n:
        raise InvalidInputError(
            f"labels have the shape {given.shape}. Give them as ({n},) or (r, {n}), one label for "
            "each row of X."
        )
    codes = as_codes(np.atleast_2d(given))
    k, values = code_count(codes), np.zeros(len(codes))
    together = max(1, min(CLUSTERS_TOGETHER // k, LABELS_TOGETHER // n))
    for first in range(0, len(codes), together):
        some = slice(first, first + together)
        values[some] = score(codes[some], k)
    return float(values[0]) if given.ndim == 1 else values


def _can_be_compared(sizes: IntArray) -> BoolArray:
    """Return which labellings, with clusters of `sizes` (r, k), have two clusters and a pair."""
    return np.asarray((np.count_nonzero(sizes, axis=1) > 1) & (sizes.max(axis=1) > 1))


def _sample(n: int, seed: int | SeedSequence) -> IntArray:
    if n <= MOST_ROWS:
        return np.arange(n)
    stream = Generator(PCG64(as_seed_sequence(seed)))
    return np.sort(stream.choice(n, MOST_ROWS, replace=False))


def _distances(X: Float64Array) -> Float64Array:
    """Return all distances, from differences: by products, equal rows could be apart."""
    distances = np.zeros((len(X), len(X)))
    together = max(1, BATCH_SIZE // len(X))
    for first in range(0, len(X), together):
        rows = distances[first : first + together]
        for feature in X.T:
            differences = feature[first : first + together, np.newaxis] - feature
            rows += np.square(differences, out=differences)
        np.sqrt(rows, out=rows)
    return distances


def _in_whole_units(distances: Float64Array) -> Float64Array:
    """Round the distances of an entity (column) so that sums of them are exact in float64.

    The unit is about 2**-52 of their sum. With n entities each distance is wrong by at most n such
    parts of the mean, which is the rounding error that a sum of n numbers may have.
    """
    unit = np.ldexp(1.0, np.frexp(distances.sum(axis=0))[1] - 52)
    distances /= unit
    return np.rint(distances, out=distances)
