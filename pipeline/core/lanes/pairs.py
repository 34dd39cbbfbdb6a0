"""Pairs of an entity and a cluster, chosen from all pairs of all lanes."""

from typing import NamedTuple

import numpy as np

from pipeline.core.types import BoolArray, IntArray


class Pairs(NamedTuple):
    """Chosen pairs, grouped by lane and cluster.

    Attributes
    ----------
    places
        Places of the pairs in (lanes, k, n); (pairs,).
    columns
        Places of their entities in (lanes, n); (pairs,).
    groups
        Places in (lanes, k) of the clusters that occur; (groups,).
    lanes, clusters
        The lanes of these clusters, and their numbers in the lanes; (groups,).
    counts
        How many pairs each of these clusters has; (groups,).
    """

    places: IntArray
    columns: IntArray
    groups: IntArray
    lanes: IntArray
    clusters: IntArray
    counts: IntArray


def pairs_of(chosen: BoolArray) -> Pairs:
    """Return the pairs that a mask of shape (lanes, k, n) chooses.

    Examples
    --------
    >>> import numpy as np
    >>> one_lane = np.array([[[False, True, True], [False, False, False], [True, False, False]]])
    >>> pairs = pairs_of(one_lane)
    >>> pairs.columns.tolist(), pairs.clusters.tolist(), pairs.counts.tolist()
    ([1, 2, 0], [0, 2], [2, 1])
    """
    lanes, k, n = chosen.shape
    places = np.flatnonzero(chosen)
    counts = np.diff(np.searchsorted(places, n * np.arange(lanes * k + 1)))
    groups = np.flatnonzero(counts)
    counts, of_lane, cluster = counts[groups], groups // k, groups % k
    columns = places - np.repeat(n * (groups - of_lane), counts)
    return Pairs(places, columns, groups, of_lane, cluster, counts)
