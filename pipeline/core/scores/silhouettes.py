"""The silhouette: one product of labellings, as zeros and ones, with the distances."""

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.exact_sums import unit_for
from pipeline.core.labellings import memberships, sampled_rows, scored
from pipeline.core.scores.spreads import can_be_compared
from pipeline.core.segments import BATCH_SIZE
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_matrix, refuse_unfit_powers


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
        self.rows = sampled_rows(len(matrix), seed)
        self.distances = _in_whole_units(_distances(matrix[self.rows]))

    def of(self, labels: ArrayLike) -> float | Float64Array:
        """Return the silhouette of one labelling (n,), or those of many (r, n).

        Examples
        --------
        >>> Silhouettes([[0.0], [1.0], [5.0], [6.0]]).of([["a", "a", "b", "b"]]).round(3)
        array([0.798])
        """
        return scored(labels, self.entities, lambda some, k: self._means(some[:, self.rows], k))

    def _means(self, labels: IntArray, k: int) -> Float64Array:
        members = memberships(labels, k)  # (r, k, n)
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
        return np.where(can_be_compared(sizes), values.mean(axis=1), np.nan)


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
    distances /= unit_for(distances.sum(axis=0))
    return np.rint(distances, out=distances)
