"""Average linkage by chains of nearest neighbours."""

import numpy as np

from pipeline.core.types import Float64Array, IntArray


def average_linkage(totals: Float64Array, sizes: IntArray, k: int) -> IntArray:
    """Merge the two groups with the highest mean similarity, until `k` clusters are left.

    Parameters
    ----------
    totals : ndarray, shape (g, g)
        The similarity of each two groups, added up over all pairs of an entity of one and an entity
        of the other. Sums of whole numbers are exact, so that equal means are equal in all bits.
    sizes : ndarray of int, shape (g,)
        The number of entities in each group.
    k : int
        The number of clusters. There are fewer if merges tie: all that are as good as the last one
        are made, as in SciPy, because a choice between them would be arbitrary.

    Returns
    -------
    ndarray of int, shape (g,)
        The cluster of each group, named by its first group.

    Examples
    --------
    >>> totals = np.array([[0.0, 5, 1], [5, 0, 2], [1, 2, 0]])
    >>> average_linkage(totals, np.ones(3, dtype=np.int64), 2).tolist()
    [0, 0, 2]
    """
    into, similarity = _merges(totals, sizes)
    clusters, surplus = np.arange(len(sizes)), len(sizes) - k
    if surplus <= 0:
        return clusters
    last = np.sort(similarity)[-surplus]
    for group in np.flatnonzero(similarity >= last):
        clusters[group] = clusters[into[group]]  # merged before: it has a smaller number
    return clusters


def _merges(totals: Float64Array, sizes: IntArray) -> tuple[IntArray, Float64Array]:
    """Return which group each other group is merged into, and how similar the two are on average.

    Each group is followed by its nearest one, until two are nearest to each other. They are merged,
    and the chain goes on before them. Mean similarities never rise by a merge, so that such pairs
    stay nearest until they are merged (Murtagh, The Computer Journal 26, 1983).
    """
    totals, members = totals.astype(np.float64), sizes.astype(np.float64)
    np.fill_diagonal(totals, -np.inf)
    into, similarity = np.arange(len(sizes)), np.full(len(sizes), -np.inf)
    chain: list[int] = []
    for _ in range(len(sizes) - 1):
        pair, nearest = _extended(chain or [0], totals, members)
        chain = pair[:-2]
        kept, lost = sorted(pair[-2:])
        into[lost], similarity[lost] = kept, nearest
        members[kept] += members[lost]
        totals[kept] += totals[lost]
        totals[:, kept] = totals[kept]
        totals[:, lost] = -np.inf
    return into, similarity


def _extended(
    chain: list[int], totals: Float64Array, members: Float64Array
) -> tuple[list[int], float]:
    """Extend a chain until its last two groups are nearest to each other.

    Of equally near groups, the one before in the chain is taken, so that chains end; otherwise the
    first.
    """
    chain = list(chain)
    while True:
        means = totals[chain[-1]] / (members[chain[-1]] * members)
        nearest = int(means.argmax())
        if len(chain) > 1 and means[chain[-2]] == means[nearest]:
            return chain, float(means[nearest])
        chain.append(nearest)
