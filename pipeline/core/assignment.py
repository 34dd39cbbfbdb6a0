"""The nearest cluster of every entity, with as few distances as can be.

Distances carry over from round to round. Let ``d = ||w (x - z)||_p``, the root of what is compared,
and let a cluster's centroid and weights change to z' and w'. By the triangle inequality ::

    min(w' / w) d - ||w' (z' - z)||_p  <=  d'  <=  max(w' / w) d + ||w' (z' - z)||_p

so that most pairs of an entity and a cluster are settled without a single power. The bounds have
some slack for rounding: what is left out could not have won, and no label depends on them.
"""

import numpy as np

from pipeline.core.minkowski import power, spread_exponents, weighted_powers
from pipeline.core.nearest import SmallLabels, nearest_of
from pipeline.core.runs import BoolArray, blocks_of
from pipeline.core.validation import FloatArray, IntArray

#: Share by which a bound may be wrong through rounding.
SLACK = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-4}


class Assignment:
    """The labels (lanes, n) of all lanes, and bounds of the distances to their clusters.

    `X` is (m, lanes, n), the exponents `p` are (lanes,), and a lane has `clusters` of the k.
    """

    def __init__(self, X: FloatArray, p: FloatArray, clusters: IntArray, k: int) -> None:
        lanes, n = X.shape[1:]
        self.X, self.p = X, p
        self.absent: BoolArray = np.arange(k) >= clusters[:, np.newaxis]
        self.labels: SmallLabels = np.zeros((lanes, n), dtype=np.uint8 if k <= 255 else np.int64)
        self.lower = np.zeros((lanes, k, n), dtype=X.dtype)
        self.lower[self.absent] = np.inf
        self.upper = np.full((lanes, n), np.inf, dtype=X.dtype)
        self.centroids = self.weights = np.ones((len(X), lanes, k))

    def keep(self, going: BoolArray) -> None:
        """Drop the other lanes."""
        for name in ("p", "absent", "labels", "lower", "upper"):
            setattr(self, name, getattr(self, name)[going])
        for name in ("X", "centroids", "weights"):
            setattr(self, name, np.compress(going, getattr(self, name), axis=1))

    def update(self, centroids: FloatArray, weights: FloatArray) -> SmallLabels:
        """Return the nearest cluster of every entity (lanes, n), the lowest index on a tie.

        `centroids` and `weights` are (m, lanes, k).
        """
        self._loosen(centroids, weights)
        self.centroids, self.weights = centroids.copy(), weights.copy()
        own = np.zeros(self.lower.shape, dtype=np.bool_)
        own.reshape(-1)[self._own_pairs()] = True
        rivals: BoolArray = (self.lower <= self.upper[:, np.newaxis]) & ~own
        unsettled = np.asarray(rivals.any(axis=1))
        found = np.full(self.lower.shape, np.inf, dtype=self.lower.dtype)
        self._measure(own & unsettled[:, np.newaxis], found)
        self._tighten(unsettled)
        rivals &= unsettled[:, np.newaxis]
        rivals &= self.lower <= self.upper[:, np.newaxis]
        self._measure(rivals, found)
        nearest = nearest_of(found.transpose(1, 0, 2), found.shape[1])
        self.labels = np.where(unsettled, nearest, self.labels)
        self._tighten(unsettled)
        return self.labels

    def _own_pairs(self) -> IntArray:
        """Return the place in (lanes, k, n) of every entity with its own cluster."""
        lanes, k, n = self.lower.shape
        first = k * n * np.arange(lanes)[:, np.newaxis] + np.arange(n)
        return first + n * self.labels.astype(np.int64)

    def _tighten(self, measured: BoolArray) -> None:
        """Set the upper bound where the distance to the own cluster was measured."""
        to_own = np.take(self.lower, self._own_pairs())
        self.upper = np.where(measured, to_own, self.upper)

    def _loosen(self, centroids: FloatArray, weights: FloatArray) -> None:
        """Let the bounds follow the clusters to where they are now."""
        shrinks, grows, moved = self._changes(centroids, weights)
        self.lower *= shrinks[:, :, np.newaxis]
        self.lower -= moved[:, :, np.newaxis]
        own = self.labels.astype(np.int64)
        with np.errstate(invalid="ignore"):  # 0 times infinity: a weight that was 0 before
            self.upper *= np.take_along_axis(grows, own, axis=1)
        self.upper += np.take_along_axis(moved, own, axis=1)
        np.fmin(self.upper, np.inf, out=self.upper)

    def _changes(self, centroids: FloatArray, weights: FloatArray) -> FloatArray:
        """Return min(w' / w), max(w' / w) and ||w' (z' - z)||_p of all clusters, with slack."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = weights / self.weights
        shrinks = np.where(self.weights > 0, ratio, np.inf).min(axis=0)
        grows = np.where(weights > 0, ratio, 0.0).max(axis=0)
        p = self.p[:, np.newaxis]
        moved = power(power(weights * np.abs(centroids - self.centroids), p).sum(axis=0), 1 / p)
        slack = SLACK[self.X.dtype]
        changes = np.stack([shrinks * (1 - slack), grows * (1 + slack), moved * (1 + slack)])
        changes[:, self.absent] = np.array([[1], [1], [0]])  # where bounds stay infinite
        with np.errstate(over="ignore"):
            return changes.astype(self.X.dtype)

    def _measure(self, pairs: BoolArray, found: FloatArray) -> None:
        """Find the distances of some pairs: powers for `found`, their roots for the bounds."""
        k, n = pairs.shape[1:]
        places, counts = np.flatnonzero(pairs), np.count_nonzero(pairs, axis=2).ravel()
        groups = np.flatnonzero(counts)
        counts, lane = counts[groups], groups // k
        columns = places - np.repeat(n * (groups - lane), counts)
        p, dtype = self.p[lane], self.X.dtype
        flat = self.X.reshape(len(self.X), -1)
        z = self.centroids.reshape(len(flat), -1)[:, groups].astype(dtype)
        w = power(self.weights.reshape(len(flat), -1)[:, groups], p).astype(dtype)
        for some, values in blocks_of(counts):
            features = (row.take(columns[values]) for row in flat)
            to_p = weighted_powers(features, z[:, some], w[:, some], p[some], counts[some])
            found.reshape(-1)[places[values]] = to_p
            roots = power(to_p, spread_exponents(1 / p[some], counts[some], dtype))
            self.lower.reshape(-1)[places[values]] = roots
