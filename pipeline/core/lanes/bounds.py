"""Bounds of distances that follow the clusters from round to round, without a single power.

Let ``d = ||w (x - z)||_p``, the root of what is compared, and let a cluster's centroid and weights
change to z' and w'. By the triangle inequality ::

    min(w' / w) d - ||w' (z' - z)||_p  <=  d'  <=  max(w' / w) d + ||w' (z' - z)||_p
"""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from pipeline.core.lanes.estimates import STEP
from pipeline.core.minkowski import norms
from pipeline.core.types import BoolArray, Float32Array, Float64Array, SmallLabels

#: An upper bound that bounds nothing, but is less than the lower bounds of absent clusters.
LARGEST = np.finfo(np.float32).max


class Clusters(NamedTuple):
    """Centroids and weights of the clusters of all lanes, both (m, lanes, k)."""

    centroids: Float64Array
    weights: Float64Array

    def keep(self, going: BoolArray) -> "Clusters":
        """Return the clusters of the lanes that go on."""
        return Clusters(*(np.compress(going, part, axis=1) for part in self))


class Changes(NamedTuple):
    """How the distances to clusters can change, (lanes, k) each, with slack for rounding.

    Attributes
    ----------
    shrinks, grows
        Smallest and largest ratio of new to old weights, ``min(w' / w)`` and ``max(w' / w)``.
    moved
        Distance of the new from the old centroid, ``||w' (z' - z)||_p``, in units of the scale.
    """

    shrinks: Float32Array
    grows: Float32Array
    moved: Float32Array


@dataclass
class Bounds:
    """Bounds of distances, in units of each lane's scale.

    Attributes
    ----------
    lower
        Of every entity to every cluster, infinite for absent clusters; (lanes, k, n).
    upper
        Of every entity to its own cluster; (lanes, n).
    """

    lower: Float32Array
    upper: Float32Array

    @classmethod
    def none_yet(cls, absent: BoolArray, n: int) -> Self:
        """Return bounds that bound nothing, given which clusters (lanes, k) are absent."""
        lower = np.zeros((*absent.shape, n), dtype=np.float32)
        lower[absent] = np.inf
        return cls(lower, np.full((len(absent), n), LARGEST))

    def keep(self, going: BoolArray) -> Self:
        """Return the bounds of the lanes that go on."""
        return type(self)(self.lower[going], self.upper[going])

    def loosen(self, changes: Changes, labels: SmallLabels) -> None:
        """Let the bounds follow the clusters; `labels` (lanes, n) are the entities' own ones."""
        shrinks, grows, moved = changes
        self.lower *= shrinks[:, :, np.newaxis]
        self.lower -= moved[:, :, np.newaxis]
        own = labels + grows.shape[1] * np.arange(len(grows))[:, np.newaxis]
        # 0 times infinity: a weight that was 0 before. A bound that overflows bounds nothing.
        with np.errstate(invalid="ignore", over="ignore"):
            self.upper *= grows.take(own)
            self.upper += moved.take(own)
        np.fmin(self.upper, LARGEST, out=self.upper)


def changes_of(
    before: Clusters, after: Clusters, p: Float64Array, scale: Float64Array, absent: BoolArray
) -> Changes:
    """Return how the distances to all clusters can change; `p` and `scale` are (lanes,)."""
    # Next to p = 1 weights can be 0, or so small that their ratio overflows.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        ratio = after.weights / before.weights
    shrinks = np.where(before.weights > 0, ratio, np.inf).min(axis=0)
    grows = np.where(after.weights > 0, ratio, 0.0).max(axis=0)
    shift = np.abs(after.centroids - before.centroids) / scale[:, np.newaxis]
    moved = norms(after.weights * shift, p[:, np.newaxis])
    changes = np.stack([shrinks * (1 - STEP), grows * (1 + STEP), moved * (1 + STEP)])
    changes[:, absent] = np.array([[1], [1], [0]])  # so that their bounds stay infinite
    with np.errstate(over="ignore"):
        return Changes(*changes.astype(np.float32))
