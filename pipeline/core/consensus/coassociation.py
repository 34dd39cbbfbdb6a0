"""Ensembles: labellings that follow from how often others put two entities together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core.consensus.linkage import average_linkage
from pipeline.core.errors import InvalidInputError
from pipeline.core.labellings import memberships
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_cluster_count, as_codes, as_labels, code_count

#: Numbers of labellings in ensembles.
ENSEMBLE_SIZES = (5, 10, 20, 40)
#: Entities that all labellings put together are one group. So many groups are linked, the largest
#: ones; the others join the nearest cluster. Up to as many rows, all groups are linked.
MOST_GROUPS = 2_000


def ensembles(
    labels: ArrayLike, scores: ArrayLike, k: int, sizes: Sequence[int] = ENSEMBLE_SIZES
) -> dict[int, IntArray]:
    """Return the consensus of the best labellings, for several numbers of them.

    Parameters
    ----------
    labels : array_like, shape (r, n)
        All labellings that compete.
    scores : array_like, shape (r,)
        Their scores, of which higher is better. Of equal scores the first labelling is better.
    k : int
        The number of clusters.
    sizes : sequence of int
        How many of the best labellings each ensemble has. Sizes above `r` are left out.

    Returns
    -------
    dict of int to ndarray of int, shape (n,)
        The labellings by the size of the ensemble, as `consensus_labels` returns them. An ensemble
        has neither exponents nor weights.

    Examples
    --------
    >>> labels = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    >>> {size: each.tolist() for size, each in ensembles(labels, [3, 2, 1], 2, [2, 5]).items()}
    {2: [0, 0, 1, 1]}
    """
    given, values = _as_rows(labels), np.asarray(scores, np.float64)
    if values.shape != given.shape[:1]:
        raise InvalidInputError(
            f"scores have the shape {values.shape}. Give one score for each of {len(given)} "
            "labellings."
        )
    best = np.argsort(-values, kind="stable")
    return {size: consensus_labels(given[best[:size]], k) for size in sizes if size <= len(given)}


def consensus_labels(labels: ArrayLike, k: int) -> IntArray:
    """Return the labelling that several labellings agree on.

    Parameters
    ----------
    labels : array_like, shape (q, n)
        The labellings, in rows.
    k : int
        The number of clusters.

    Returns
    -------
    ndarray of int, shape (n,)
        The clusters of average linkage, where two entities are as similar as the share of
        labellings that put them together. Numbered from 0 in the order of their first entities;
        fewer than `k` if merges tie.

    Notes
    -----
    Entities that are together in all labellings are one group, so that large data need little more
    than small data. Of more than 2,000 groups the largest are linked. The entities of each other
    group join the cluster with whose members they are together most often.

    Examples
    --------
    >>> consensus_labels([[0, 0, 1, 1, 2], [5, 5, 5, 7, 7], [1, 1, 0, 0, 0]], 2).tolist()
    [0, 0, 1, 1, 1]
    """
    given = _as_rows(labels)
    as_cluster_count(k, given.shape[1])
    groups = _Groups(as_codes(given))
    return _numbered(groups.clusters(k)[groups.of_entities])


def _as_rows(labels: ArrayLike) -> NDArray[np.generic]:
    given = as_labels(labels, "labels")
    if given.ndim != 2 or not given.size:
        raise InvalidInputError(
            f"labels have the shape {given.shape}. Give them as (q, n), a labelling in each row."
        )
    return given


class _Groups:
    """Entities that all labellings put together, in the order of their first entities."""

    def __init__(self, labels: IntArray) -> None:
        found, first, inverse, sizes = np.unique(
            labels, axis=1, return_index=True, return_inverse=True, return_counts=True
        )
        order = np.argsort(first)
        self.labels, self.sizes = found[:, order], sizes[order]  # (q, g), (g,)
        self.of_entities = np.argsort(order)[inverse.ravel()]

    def clusters(self, k: int) -> IntArray:
        """Return the cluster of each group."""
        largest = np.sort(np.argsort(-self.sizes, kind="stable")[:MOST_GROUPS])
        found = np.zeros(len(self.sizes), dtype=np.int64)
        found[largest] = average_linkage(self._together(largest), self.sizes[largest], k)
        others = np.delete(np.arange(len(self.sizes)), largest)
        if others.size:
            found[others] = self._nearest(others, largest, found[largest])
        return found

    def _together(self, groups: IntArray) -> Float64Array:
        """Return how many labellings put pairs of groups together, over all pairs of entities."""
        labels, sizes = self.labels[:, groups], self.sizes[groups]
        members = memberships(labels, code_count(labels)).reshape(-1, len(groups))
        shared = members.astype(np.float32)  # exact, for fewer than 2**24 labellings
        return np.asarray((shared.T @ shared) * np.outer(sizes, sizes).astype(np.float64))

    def _nearest(self, others: IntArray, groups: IntArray, clusters: IntArray) -> IntArray:
        """Return the cluster with whose members each other group is together most often."""
        names, codes = np.unique(clusters, return_inverse=True)
        k, totals = code_count(self.labels), np.zeros((len(others), len(names)))
        for row in self.labels:
            cells = row[groups] * len(names) + codes
            counts = np.bincount(cells, self.sizes[groups], k * len(names)).reshape(k, -1)
            totals += counts[row[others]]
        return np.asarray(names[(totals / np.bincount(codes, self.sizes[groups])).argmax(axis=1)])


def _numbered(clusters: IntArray) -> IntArray:
    """Return clusters numbered from 0, in the order of their first entities."""
    _, first, inverse = np.unique(clusters, return_index=True, return_inverse=True)
    return np.asarray(np.argsort(np.argsort(first))[inverse])
