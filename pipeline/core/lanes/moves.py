"""Entities that moved from one cluster to another between two labellings."""

from typing import Any, NamedTuple

import numpy as np

from pipeline.core.centres import Turnover
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, FloatArray, IntArray, SmallLabels


class Moves(NamedTuple):
    """Entities that joined or left a cluster: two entries for each entity that moved.

    Attributes
    ----------
    clusters
        Places in (lanes, k) of the clusters that they joined or left.
    columns
        Places in (lanes, n) of the entities.
    signs
        1 where an entity joined the cluster, -1 where it left it.
    """

    clusters: IntArray
    columns: IntArray
    signs: IntArray

    @classmethod
    def between(cls, before: SmallLabels, labels: SmallLabels, k: int) -> "Moves":
        """Compare two labellings (lanes, n). A label of -1 is that of no cluster.

        Examples
        --------
        >>> moves = Moves.between(np.array([[0, 1, 1]]), np.array([[0, 0, 1]]), k=2)
        >>> moves.clusters.tolist(), moves.columns.tolist(), moves.signs.tolist()
        ([0, 1], [1, 1], [1, -1])
        """
        lane, entity = np.nonzero(labels != before)
        columns = lane * labels.shape[1] + entity
        joined, left = (k * lane + each[lane, entity] for each in (labels, before))
        moved = before[lane, entity] >= 0
        clusters = np.concatenate([joined, left[moved]])
        signs = np.repeat([1, -1], [len(joined), moved.sum()])
        return cls(clusters, np.concatenate([columns, columns[moved]]), signs)

    def turnover(self, X: FloatArray, chosen: BoolArray) -> Turnover:
        """Return the members of `X` (m, columns) that joined or left each of the chosen clusters.

        `chosen` is a mask of all places in (lanes, k), each with at least one entry.
        """
        entries = np.flatnonzero(chosen[self.clusters])
        entries = entries[order_of(self.clusters[entries], len(chosen))]
        counts = np.bincount(self.clusters[entries], minlength=len(chosen))[chosen]
        members = Groups(np.take(X, self.columns[entries], axis=1), counts)
        return Turnover(members, self.signs[entries].astype(X.dtype))


def order_of(keys: IntArray, count: int) -> IntArray:
    """Return the stable order of keys below `count`."""
    return np.argsort(keys.astype(_small(count)), kind="stable")


def _small(count: int) -> type[np.integer[Any]]:
    """Return the type for numbers below `count` that NumPy sorts fastest."""
    return np.int16 if count <= np.iinfo(np.int16).max else np.int64
