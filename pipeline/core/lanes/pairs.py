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
    counts
        How many pairs each of these clusters has; (groups,).
    """

    places: IntArray
    columns: IntArray
    groups: IntArray
    counts: IntArray


def pairs_of(chosen: BoolArray) -> Pairs:
    """Return the pairs that a mask of shape (lanes, k, n) chooses.

    Examples
    --------
    >>> import numpy as np
    >>> one_lane = np.array([[[False, True, True], [False, False, False], [True, False, False]]])
    >>> [part.tolist() for part in pairs_of(one_lane)]
    [[1, 2, 6], [1, 2, 0], [0, 2], [2, 1]]
    """
    lanes, k, n = chosen.shape
    places = np.flatnonzero(chosen)
    counts = np.diff(np.searchsorted(places, n * np.arange(lanes * k + 1)))
    groups = np.flatnonzero(counts)
    counts = counts[groups]
    columns = places - np.repeat(n * (groups - groups // k), counts)
    return Pairs(places, columns, groups, counts)
