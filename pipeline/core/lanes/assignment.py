"""The nearest cluster of every entity, with as few distances as can be.

Distances carry over from round to round. Let ``d = ||w (x - z)||_p``, the root of what is compared,
and let a cluster's centroid and weights change to z' and w'. By the triangle inequality ::

    min(w' / w) d - ||w' (z' - z)||_p  <=  d'  <=  max(w' / w) d + ||w' (z' - z)||_p

so that most pairs of an entity and a cluster are settled without a single power. The others are
estimated in float32, and what is still open is computed exactly. Bounds allow for all rounding:
what they leave out could not have won, and no label depends on them.
"""

from typing import Any, NamedTuple

import numpy as np

from pipeline.core.lanes.estimates import (
    ROUNDING,
    STEP,
    bounds,
    in_float32,
    largest_sizes,
    rough_exponents,
    scales,
)
from pipeline.core.minkowski import norms, power, weighted_powers
from pipeline.core.nearest import label_type, nearest_of
from pipeline.core.segments import blocks_of
from pipeline.core.types import BoolArray, FloatArray, IntArray, SmallLabels

#: An upper bound that bounds nothing, but is less than the lower bounds of absent clusters.
LARGEST = np.finfo(np.float32).max


class _Pairs(NamedTuple):
    """Pairs of entities and clusters: places in (lanes, k, n), grouped by lane and cluster.

    `columns` are the places of the entities in (lanes, n); `groups` those of the clusters that
    occur, in (lanes, k), with `counts` pairs each.
    """

    places: IntArray
    columns: IntArray
    groups: IntArray
    counts: IntArray


class Assignment:
    """The labels (lanes, n) of all lanes, and bounds of the distances to their clusters.

    `X` is (m, lanes, n), the exponents `p` are (lanes,), and a lane has `clusters` of the k.
    Bounds are in units of the lane's scale. Centroids are numbers of the precision of `X`.
    """

    def __init__(self, X: FloatArray, p: FloatArray, clusters: IntArray, k: int) -> None:
        lanes, n = X.shape[1:]
        self.X, self.p, self.scale = X, p, scales(X)
        self.rough = in_float32(X, self.scale[:, np.newaxis])
        self.reach = np.maximum(largest_sizes(self.rough), 1.0)
        self.rounding = 0.0 if self.rough is X else ROUNDING
        self.absent: BoolArray = np.arange(k) >= clusters[:, np.newaxis]
        self.labels: SmallLabels = np.zeros((lanes, n), dtype=label_type(k))
        self.lower = np.zeros((lanes, k, n), dtype=np.float32)
        self.lower[self.absent] = np.inf
        self.upper = np.full((lanes, n), LARGEST)
        self.centroids, self.weights = np.zeros((len(X), lanes, k)), np.ones((len(X), lanes, k))

    def keep(self, going: BoolArray) -> None:
        """Drop the other lanes."""
        for name in ("p", "scale", "reach", "absent", "labels", "lower", "upper"):
            setattr(self, name, getattr(self, name)[going])
        X, rough = self.X, self.rough
        for name in ("X", "centroids", "weights"):
            setattr(self, name, np.compress(going, getattr(self, name), axis=1))
        self.rough = self.X if rough is X else np.compress(going, rough, axis=1)

    def update(self, centroids: FloatArray, weights: FloatArray) -> SmallLabels:
        """Return the nearest cluster of every entity (lanes, n), the lowest index on a tie.

        `centroids` and `weights` are (m, lanes, k).
        """
        self._loosen(centroids, weights)
        self.centroids, self.weights = centroids.copy(), weights.copy()
        places = self._own_places()
        own = np.zeros(self.lower.shape, dtype=np.bool_)
        own.reshape(-1)[places] = True
        rivals: BoolArray = self.lower <= self.upper[:, np.newaxis]
        rivals &= ~own
        unsettled = np.asarray(rivals.any(axis=1))
        # The own cluster first: its distance rules most of the rivals out.
        high: FloatArray = np.full(self.lower.shape, np.inf, dtype=np.float32)
        self._estimate(own & unsettled[:, np.newaxis], high)
        self.upper = np.where(unsettled, np.take(high, places), self.upper)
        rivals &= unsettled[:, np.newaxis]
        rivals &= self.lower <= self.upper[:, np.newaxis]
        self._estimate(rivals, high)
        # Where one cluster is the nearest for sure, its upper bound is the least.
        nearest, best = nearest_of(high.transpose(1, 0, 2), high.shape[1])
        self.labels = np.where(unsettled, nearest, self.labels)
        self._decide(np.where(unsettled, np.minimum(best, LARGEST), -np.inf))
        self.upper = np.where(unsettled, np.take(high, self._own_places()), self.upper)
        return self.labels

    def _own_places(self) -> IntArray:
        """Return the place in (lanes, k, n) of every entity with its own cluster."""
        lanes, k, n = self.lower.shape
        first = k * n * np.arange(lanes)[:, np.newaxis] + np.arange(n)
        return first + n * self.labels.astype(np.int64)

    def _loosen(self, centroids: FloatArray, weights: FloatArray) -> None:
        """Let the bounds follow the clusters to where they are now."""
        shrinks, grows, moved = self._changes(centroids, weights)
        self.lower *= shrinks[:, :, np.newaxis]
        self.lower -= moved[:, :, np.newaxis]
        own = self.labels + grows.shape[1] * np.arange(len(grows))[:, np.newaxis]
        # 0 times infinity: a weight that was 0 before. What is too large is as good as infinite.
        with np.errstate(invalid="ignore", over="ignore"):
            self.upper *= grows.take(own)
            self.upper += moved.take(own)
        np.fmin(self.upper, LARGEST, out=self.upper)

    def _changes(self, centroids: FloatArray, weights: FloatArray) -> FloatArray:
        """Return min(w' / w), max(w' / w) and ||w' (z' - z)||_p of all clusters, with slack."""
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = weights / self.weights
        shrinks = np.where(self.weights > 0, ratio, np.inf).min(axis=0)
        grows = np.where(weights > 0, ratio, 0.0).max(axis=0)
        shift = np.abs(centroids - self.centroids) / self.scale[:, np.newaxis]
        moved = norms(weights * shift, self.p[:, np.newaxis])
        changes = np.stack([shrinks * (1 - STEP), grows * (1 + STEP), moved * (1 + STEP)])
        changes[:, self.absent] = np.array([[1], [1], [0]])  # where bounds stay infinite
        with np.errstate(over="ignore"):
            return changes.astype(np.float32)

    def _pairs(self, chosen: BoolArray) -> _Pairs:
        lanes, k, n = chosen.shape
        places = np.flatnonzero(chosen)
        counts = np.diff(np.searchsorted(places, n * np.arange(lanes * k + 1)))
        groups = np.flatnonzero(counts)
        counts = counts[groups]
        return _Pairs(
            places, places - np.repeat(n * (groups - groups // k), counts), groups, counts
        )

    def _estimate(self, chosen: BoolArray, high: FloatArray) -> None:
        """Set both bounds of the chosen pairs: `high` (lanes, k, n), and the lower ones."""
        pairs = self._pairs(chosen)
        lane = pairs.groups // chosen.shape[1]
        z, w = self._clusters(pairs.groups, self.rough.dtype, self.scale[lane])
        rough = self.rough.reshape(len(self.rough), -1)
        for some, values in blocks_of(pairs.counts):
            p, counts, places = self.p[lane[some]], pairs.counts[some], pairs.places[values]
            columns = pairs.columns[values]
            exponents = rough_exponents(p)
            to_p = weighted_powers(rough, columns, z[:, some], w[:, some], exponents, counts)
            reach = self.reach[lane[some]]
            found = bounds(to_p, p, w[:, some], counts, reach, self.rounding)
            self.lower.reshape(-1)[places], high.reshape(-1)[places] = found

    def _decide(self, best: FloatArray) -> None:
        """Compute exactly where more than one cluster may be as near as `best`, an upper bound."""
        near = self.lower <= best[:, np.newaxis]
        k = near.shape[1]
        several = near.sum(axis=1, dtype=label_type(k)) > 1
        if not several.any():
            return
        pairs = self._pairs(near & several[:, np.newaxis])
        z, w = self._clusters(pairs.groups, self.X.dtype, np.ones(len(pairs.groups)))
        X, p = self.X.reshape(len(self.X), -1), self.p[pairs.groups // k]
        to_p = weighted_powers(X, pairs.columns, z, w, p, pairs.counts)
        cluster = np.repeat(pairs.groups % k, pairs.counts)
        order = np.lexsort((cluster, to_p, pairs.columns))
        entities, first = np.unique(pairs.columns[order], return_index=True)
        self.labels.reshape(-1)[entities] = cluster[order][first]

    def _clusters(
        self, groups: IntArray, dtype: np.dtype[Any], scale: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Return centroids and p-th powers of weights of some clusters, both (m, groups)."""
        m, _, k = self.centroids.shape
        z = self.centroids.reshape(m, -1)[:, groups] / scale
        w = power(self.weights.reshape(m, -1)[:, groups], self.p[groups // k])
        return z.astype(dtype), w.astype(dtype)
