"""The nearest cluster of every entity, with as few distances as possible.

Bounds that follow the clusters settle most pairs of an entity and a cluster (see `bounds`). The
others are estimated in float32 (see `estimates`), and the pairs that are still open are computed in
the precision of the run. Bounds allow for all rounding: a pair that they leave out could not have
won, and no label depends on them.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pipeline.core.lanes.bounds import LARGEST, Bounds, Clusters, changes_of
from pipeline.core.lanes.estimates import (
    ROUNDING,
    distance_bounds,
    in_float32,
    largest_sizes,
    rough_exponents,
    scales,
)
from pipeline.core.lanes.pairs import Pairs, pairs_of
from pipeline.core.minkowski import power, weighted_powers
from pipeline.core.nearest import label_type, nearest_of
from pipeline.core.segments import batches_of
from pipeline.core.types import (
    BoolArray,
    Float32Array,
    Float64Array,
    FloatArray,
    IntArray,
    SmallLabels,
)


@dataclass(frozen=True)
class LaneData:
    """What never changes while a lane is in the main loop.

    Attributes
    ----------
    X
        The data, in the precision of the run; (m, lanes, n).
    estimates
        The data in units of the lane's scale, which is 1 in float32: the same array as `X` then;
        (m, lanes, n).
    p, scale
        Exponent, and unit of estimates and bounds; (lanes,).
    reach
        Largest size of an estimate, at least 1; (lanes,).
    absent
        Whether a lane has no such cluster, because it found fewer patterns; (lanes, k).
    """

    X: FloatArray
    estimates: Float32Array
    p: Float64Array
    scale: Float64Array
    reach: Float64Array
    absent: BoolArray

    @classmethod
    def of(cls, X: FloatArray, p: Float64Array, clusters: IntArray, k: int) -> Self:
        """Prepare the lanes of `X`, which have `clusters` of the k each."""
        scale = scales(X)
        estimates = in_float32(X, scale[:, np.newaxis])
        reach = np.maximum(largest_sizes(estimates), 1.0)
        return cls(X, estimates, p, scale, reach, np.arange(k) >= clusters[:, np.newaxis])

    @property
    def columns(self) -> FloatArray:
        """The entities of all lanes as columns; (m, lanes n)."""
        return self.X.reshape(len(self.X), -1)

    @property
    def in_float32(self) -> bool:
        """Whether the run is in float32, whose data are their own estimates."""
        return self.X.dtype == np.float32

    @property
    def rounding(self) -> float:
        """Largest error of a difference of two estimates: 0 in float32, where none was rounded."""
        return 0.0 if self.in_float32 else ROUNDING

    def keep(self, going: BoolArray) -> Self:
        """Return the lanes that go on."""
        estimates = np.compress(going, self.estimates, axis=1)
        return type(self)(
            X=estimates if self.in_float32 else np.compress(going, self.X, axis=1),
            estimates=estimates,
            p=self.p[going],
            scale=self.scale[going],
            reach=self.reach[going],
            absent=self.absent[going],
        )


class Assignment:
    """The labels (lanes, n) of all lanes, and bounds of the distances to their clusters.

    `X` is (m, lanes, n), the exponents `p` are (lanes,), and a lane has `clusters` of the k.
    Centroids are numbers of the precision of `X`.
    """

    def __init__(self, X: FloatArray, p: Float64Array, clusters: IntArray, k: int) -> None:
        m, lanes, n = X.shape
        self.data = LaneData.of(X, p, clusters, k)
        self.labels: SmallLabels = np.zeros((lanes, n), dtype=label_type(k))
        self.bounds = Bounds.none_yet(self.data.absent, n)
        self.clusters = Clusters(np.zeros((m, lanes, k)), np.ones((m, lanes, k)))

    def keep(self, going: BoolArray) -> None:
        """Drop the other lanes."""
        self.data, self.labels = self.data.keep(going), self.labels[going]
        self.bounds, self.clusters = self.bounds.keep(going), self.clusters.keep(going)

    def update(self, centroids: Float64Array, weights: Float64Array) -> SmallLabels:
        """Return the nearest cluster of every entity (lanes, n), the lowest index on a tie.

        `centroids` and `weights` are (m, lanes, k).
        """
        self._follow(Clusters(centroids.copy(), weights.copy()))
        own = self._own_pairs()
        rivals = self._possible_pairs() & ~own
        unsettled = np.asarray(rivals.any(axis=1))
        upper: Float32Array = np.full(own.shape, np.inf, dtype=np.float32)
        # The own cluster first: its distance rules most of the rivals out.
        pairs, high = self._tighten(own & unsettled[:, np.newaxis])
        upper.reshape(-1)[pairs.places] = high
        self.bounds.upper.reshape(-1)[pairs.columns] = high
        pairs, high = self._tighten(rivals & self._possible_pairs())
        upper.reshape(-1)[pairs.places] = high
        self._choose(upper, unsettled)
        return self.labels

    def _follow(self, clusters: Clusters) -> None:
        """Let the bounds follow the clusters to where they are now."""
        data = self.data
        changes = changes_of(self.clusters, clusters, data.p, data.scale, data.absent)
        self.bounds.loosen(changes, self.labels)
        self.clusters = clusters

    def _own_places(self) -> IntArray:
        """Return the place in (lanes, k, n) of every entity with its own cluster."""
        lanes, k, n = self.bounds.lower.shape
        first = k * n * np.arange(lanes)[:, np.newaxis] + np.arange(n)
        return np.asarray(first + n * self.labels.astype(np.int64))

    def _own_pairs(self) -> BoolArray:
        """Return a mask (lanes, k, n) of the entities with their own clusters."""
        own = np.zeros(self.bounds.lower.shape, dtype=np.bool_)
        own.reshape(-1)[self._own_places()] = True
        return own

    def _possible_pairs(self) -> BoolArray:
        """Return a mask (lanes, k, n) of clusters that may be as near as the entity's own one."""
        return np.asarray(self.bounds.lower <= self.bounds.upper[:, np.newaxis])

    def _tighten(self, chosen: BoolArray) -> tuple[Pairs, Float32Array]:
        """Estimate the chosen pairs (lanes, k, n); set lower bounds, and return upper ones."""
        pairs = pairs_of(chosen)
        low, high = self._estimate(pairs)
        self.bounds.lower.reshape(-1)[pairs.places] = low
        return pairs, high

    def _estimate(self, pairs: Pairs) -> tuple[Float32Array, Float32Array]:
        """Return lower and upper bounds of the distances of pairs, in units of the scale."""
        data, lane = self.data, pairs.lanes
        centroids, weights_to_p = self._clusters_of(pairs)
        z, w = (centroids / data.scale[lane]).astype(np.float32), weights_to_p.astype(np.float32)
        X = data.estimates.reshape(len(z), -1)
        low, high = np.empty((2, len(pairs.places)), dtype=np.float32)
        for some, values in batches_of(pairs.counts):
            p, counts, columns = data.p[lane[some]], pairs.counts[some], pairs.columns[values]
            exponents = rough_exponents(p)
            to_p = weighted_powers(X, columns, z[:, some], w[:, some], exponents, counts)
            low[values], high[values] = distance_bounds(
                to_p, p, w[:, some], counts, data.reach[lane[some]], data.rounding
            )
        return low, high

    def _choose(self, upper: Float32Array, unsettled: BoolArray) -> None:
        """Give unsettled entities (lanes, n) their nearest cluster, by upper bounds (lanes, k, n).

        Where one cluster is certainly the nearest, its upper bound is the least.
        """
        nearest, best = nearest_of(upper.transpose(1, 0, 2), upper.shape[1])
        self.labels = np.where(unsettled, nearest, self.labels)
        self._decide(np.where(unsettled, np.minimum(best, LARGEST), -np.inf))
        own = np.take(upper, self._own_places())
        self.bounds.upper = np.where(unsettled, own, self.bounds.upper)

    def _decide(self, best: Float32Array) -> None:
        """Compute exactly where more than one cluster may be as near as `best`, an upper bound."""
        near = self.bounds.lower <= best[:, np.newaxis]
        several = near.sum(axis=1, dtype=label_type(near.shape[1])) > 1
        if not several.any():
            return
        pairs = pairs_of(near & several[:, np.newaxis])
        to_p = self._exact_powers(pairs)
        cluster = np.repeat(pairs.clusters, pairs.counts)
        order = np.lexsort((cluster, to_p, pairs.columns))
        entities, first = np.unique(pairs.columns[order], return_index=True)
        self.labels.reshape(-1)[entities] = cluster[order][first]

    def _exact_powers(self, pairs: Pairs) -> FloatArray:
        """Return the p-th powers of the distances of pairs, in the precision of the run."""
        X, p = self.data.X, self.data.p[pairs.lanes]
        z, w = (part.astype(X.dtype) for part in self._clusters_of(pairs))
        return weighted_powers(self.data.columns, pairs.columns, z, w, p, pairs.counts)

    def _clusters_of(self, pairs: Pairs) -> tuple[Float64Array, Float64Array]:
        """Return centroids and p-th powers of weights of the pairs' clusters, both (m, groups)."""
        z, w = (part.reshape(len(part), -1)[:, pairs.groups] for part in self.clusters)
        return z, power(w, self.data.p[pairs.lanes])
