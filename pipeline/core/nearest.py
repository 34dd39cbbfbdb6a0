"""The nearest of several clusters, for many entities at once."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from pipeline.core.types import AnyFloat, Float32Array, Float64Array, SmallLabels

#: Products found at once: more would leave the cache.
PRODUCTS_TOGETHER = 200_000
SINGLE = np.finfo(np.float32)


def label_type(k: int) -> type[np.uint8] | type[np.int64]:
    """Return the smallest type that holds the numbers 0 to `k`."""
    return np.uint8 if k <= np.iinfo(np.uint8).max else np.int64


def nearest_of(
    distances: Iterable[NDArray[AnyFloat]], k: int
) -> tuple[SmallLabels, NDArray[AnyFloat]]:
    """Return the number of the array with the least value in each place, and that value.

    On a tie it is the lowest number. A later array that is closer has a greater number, so the
    number of the last array that was closer than all before it is a maximum. This needs no branch
    per place, which a CPU would mispredict.
    """
    each = iter(distances)
    nearest = next(each).copy()
    labels = np.zeros(nearest.shape, dtype=label_type(k))
    for number, found in enumerate(each, start=1):
        closer = found < nearest
        np.maximum(labels, closer.astype(labels.dtype) * labels.dtype.type(number), out=labels)
        np.minimum(nearest, found, out=nearest)
    return labels, nearest


class NearestCentroids:
    """The entities `X`, shape (n, m), prepared for finding the nearest of `k` centroids.

    Products ``|z|**2 - 2 x z`` in float32 settle all entities except those whose least two products
    differ by no more than rounding errors. For these few the distances are computed in float64. So
    a label never depends on how a matrix product rounds, which varies with its size.
    """

    def __init__(self, X: Float64Array, k: int) -> None:
        self.X = X
        self.unit = np.ldexp(1.0, np.frexp(np.abs(X).max())[1])  # so that no square overflows
        scaled = X / self.unit
        self.reach = np.sqrt(np.square(scaled).sum(axis=1).max())
        self.with_ones = np.vstack([scaled.T, np.ones(len(X))]).astype(np.float32)
        self.numbers = np.arange(k, dtype=label_type(k))[:, np.newaxis, np.newaxis]
        self.together = max(1, PRODUCTS_TOGETHER // (len(X) * k))

    def labels(self, centroids: Float64Array) -> SmallLabels:
        """Return the nearest of each restart's `centroids` (r, k, m) as (r, n), the first on a tie.

        Examples
        --------
        >>> import numpy as np
        >>> entities = NearestCentroids(np.array([[0.0], [1.0], [2.0]]), k=2)
        >>> entities.labels(np.array([[[0.0], [2.0]], [[1.5], [0.0]]])).tolist()
        [[0, 0, 1], [1, 0, 0]]
        """
        firsts = range(0, len(centroids), self.together)
        parts = [self._some_labels(centroids[i : i + self.together]) for i in firsts]
        return np.concatenate(parts)

    def _some_labels(self, centroids: Float64Array) -> SmallLabels:
        r, k, m = centroids.shape
        z = centroids.transpose(1, 0, 2).reshape(k * r, m) / self.unit
        squares = np.square(z).sum(axis=1)
        factors = np.column_stack([-2 * z, squares]).astype(np.float32)
        products = (factors @ self.with_ones).reshape(k, r, -1)
        limit = products.min(axis=0) + self._tolerance(squares.reshape(k, r))
        near = (products <= limit).view(np.uint8)
        labels: SmallLabels = (near * self.numbers).max(axis=0)
        unsettled = near.sum(axis=0, dtype=labels.dtype) != 1
        self._settle(np.flatnonzero(unsettled), centroids, labels)
        return labels

    def _tolerance(self, squares: Float64Array) -> Float32Array:
        """Return how wrong the difference of two products can be, shape (r, 1).

        A sum of m + 1 terms with rounded factors is wrong by at most m + 3 halves of epsilon times
        the sum of their sizes. The additional tenth is for errors of errors.
        """
        far = np.sqrt(squares.max(axis=0))
        sizes = far * (2 * self.reach + far)
        bound = 1.1 * (len(self.with_ones) + 3) * SINGLE.eps * sizes + SINGLE.tiny
        return np.asarray(bound, dtype=np.float32)[:, np.newaxis]

    def _settle(
        self, places: NDArray[np.intp], centroids: Float64Array, labels: SmallLabels
    ) -> None:
        """Set the labels in some places of (r, n) by distances in float64."""
        if not len(places):
            return
        restart, entity = np.divmod(places, len(self.X))
        x, k = self.X[entity], centroids.shape[1]
        distances = (np.square(x - centroids[restart, c]).sum(axis=1) for c in range(k))
        labels[restart, entity] = nearest_of(distances, k)[0]
