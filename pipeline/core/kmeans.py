"""k-means++ seeding and Lloyd's iterations, all restarts at once."""

from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.nearest import SmallLabels, nearest_of
from pipeline.core.validation import (
    FloatArray,
    IntArray,
    as_cluster_count,
    as_matrix,
    as_whole_number,
    refuse_unfit_powers,
)

#: Rounding may make two labellings alternate; no real run comes near this many rounds.
MAX_ROUNDS = 10_000
#: Restarts are taken in groups of this many, fewer if their distances would leave the cache.
GROUP, TABLE_CELLS = 20, 200_000


@dataclass(frozen=True, eq=False)
class KMeansResult:
    """What `r` restarts of k-means found.

    Attributes
    ----------
    labels : ndarray of int, shape (r, n)
        Cluster of every entity in every restart.
    inertia : ndarray, shape (r,)
        Summed squared distance of the entities to their centroids.
    iterations : ndarray of int, shape (r,)
        Rounds of Lloyd's algorithm, the last of which changed no label.
    """

    labels: IntArray
    inertia: FloatArray
    iterations: IntArray


def kmeans(X: ArrayLike, k: int, restarts: int, seed: int | SeedSequence) -> KMeansResult:
    """Run k-means++ from `restarts` independent random starts.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns.
    k : int
        Number of clusters, 1 to n.
    restarts : int
        Number of runs, at least 1.
    seed : int or numpy.random.SeedSequence
        Restart i draws from a stream of its own, made of `seed` and i, so that more restarts
        leave the first ones as they were.

    Returns
    -------
    KMeansResult
        Labels, inertia and iterations of every restart.

    Examples
    --------
    >>> result = kmeans([[0.0], [0.1], [5.0], [5.1]], k=2, restarts=3, seed=1)
    >>> [bool(row[0] == row[1] != row[2] == row[3]) for row in result.labels]
    [True, True, True]
    >>> result.inertia.round(3).tolist()
    [0.01, 0.01, 0.01]
    """
    matrix = as_matrix(X)
    count = as_cluster_count(k, len(matrix))
    runs = as_whole_number(restarts, "restarts", 1)
    refuse_unfit_powers(matrix, 2)
    matrix = matrix - matrix.mean(axis=0)  # products cancel badly far from the origin
    sequence = _as_seed_sequence(seed)
    group = max(1, min(GROUP, TABLE_CELLS // (len(matrix) * count)))
    parts = []
    for first in range(0, runs, group):
        # The last group is filled up too: how a product rounds depends on the size of the group.
        streams = (_stream(sequence, restart) for restart in range(first, first + group))
        uniforms = np.array([stream.random(count) for stream in streams])
        parts.append(lloyd(matrix, matrix[plus_plus(matrix, uniforms)]))
    return KMeansResult(
        np.concatenate([part.labels for part in parts])[:runs],
        np.concatenate([part.inertia for part in parts])[:runs],
        np.concatenate([part.iterations for part in parts])[:runs],
    )


def _as_seed_sequence(seed: int | SeedSequence) -> SeedSequence:
    return (
        seed if isinstance(seed, SeedSequence) else SeedSequence(as_whole_number(seed, "seed", 0))
    )


def _stream(seed: SeedSequence, restart: int) -> Generator:
    """Return the stream of a restart; unlike `spawn` this leaves `seed` as it was."""
    key = (*seed.spawn_key, restart)
    return Generator(PCG64(SeedSequence(seed.entropy, spawn_key=key)))


def plus_plus(X: FloatArray, uniforms: FloatArray) -> IntArray:
    """Choose the rows of `X` that k-means++ starts from.

    Parameters
    ----------
    X : ndarray, shape (n, m)
        The data.
    uniforms : ndarray, shape (r, k)
        Random numbers in [0, 1): one for each choice of each restart.

    Returns
    -------
    ndarray of int, shape (r, k)
        The first is uniform; each next one has a probability proportional to the squared distance
        to the nearest row chosen before.

    Examples
    --------
    >>> import numpy as np
    >>> plus_plus(np.array([[0.0], [1.0], [3.0]]), np.array([[0.0, 0.05], [0.0, 0.5]])).tolist()
    [[0, 1], [0, 2]]
    """
    n = len(X)
    restart = np.arange(len(uniforms))
    chosen = np.empty(uniforms.shape, dtype=np.int64)
    chosen[:, 0] = uniforms[:, 0] * n
    nearest = np.full((len(uniforms), n), np.inf)
    for step in range(1, uniforms.shape[1]):
        last = chosen[:, step - 1]
        np.minimum(nearest, _squared_distances(X, X[last]), out=nearest)
        nearest[restart, last] = 0.0
        cumulated = nearest.cumsum(axis=1)
        threshold = uniforms[:, step] * cumulated[:, -1]
        drawn = (cumulated > threshold[:, np.newaxis]).argmax(axis=1)
        all_chosen = cumulated[:, -1] == 0
        chosen[:, step] = np.where(all_chosen, uniforms[:, step] * n, drawn)
    return chosen


def _squared_distances(X: FloatArray, points: FloatArray) -> FloatArray:
    """Squared Euclidean distances, shape (points, n), by one matrix product."""
    squares = np.square(points).sum(axis=1)[:, np.newaxis] + np.square(X).sum(axis=1)
    return np.asarray(np.maximum(squares - 2 * (points @ X.T), 0.0))


def lloyd(X: FloatArray, centroids: FloatArray) -> KMeansResult:
    """Iterate from the given `centroids`, shape (r, k, m), until no label changes.

    An emptied cluster keeps its centroid, and may win entities back.

    Examples
    --------
    >>> import numpy as np
    >>> lloyd(np.array([[0.0], [1.0], [9.0]]), np.array([[[0.0], [1.0]]])).labels.tolist()
    [[0, 0, 1]]
    """
    r = len(centroids)
    with_ones = np.column_stack([X, np.ones(len(X))])
    final, labels = centroids.copy(), np.full((r, len(X)), -1)
    iterations = np.zeros(r, dtype=np.int64)
    active: IntArray = np.arange(r)
    before: SmallLabels = labels
    for _ in range(MAX_ROUNDS):
        nearest = _nearest(with_ones, centroids)
        iterations[active] += 1
        moving = (nearest != before).any(axis=1)
        if not moving.all():
            ended = active[~moving]
            labels[ended], final[ended] = nearest[~moving], centroids[~moving]
            active, nearest, centroids = active[moving], nearest[moving], centroids[moving]
        if not len(active):
            break
        centroids, before = _means(with_ones, nearest, centroids), nearest
    else:
        labels[active], final[active] = before, centroids
    return KMeansResult(labels, _inertia(X, labels, final), iterations)


def _nearest(with_ones: FloatArray, centroids: FloatArray) -> SmallLabels:
    """Return the nearest centroid by ``|z|**2 - 2 x z``: the feature of ones takes the squares."""
    r, k, m = centroids.shape
    by_cluster = centroids.transpose(1, 0, 2).reshape(k * r, m)
    scores = np.column_stack([-2 * by_cluster, np.square(by_cluster).sum(axis=1)]) @ with_ones.T
    return nearest_of(scores.reshape(k, r, -1), k)


def _means(with_ones: FloatArray, labels: SmallLabels, centroids: FloatArray) -> FloatArray:
    """Return the means of all clusters; the feature of ones counts members. An empty one stays."""
    r, k, m = centroids.shape
    clusters = np.arange(k, dtype=labels.dtype)[:, np.newaxis]
    members = (labels[:, np.newaxis, :] == clusters).astype(with_ones.dtype)
    sums = (members.reshape(r * k, -1) @ with_ones).reshape(r, k, m + 1)
    sizes = sums[:, :, -1:]
    return np.where(sizes > 0, sums[:, :, :-1] / np.maximum(sizes, 1), centroids)


def _inertia(X: FloatArray, labels: IntArray, centroids: FloatArray) -> FloatArray:
    pairs = zip(labels, centroids, strict=True)
    return np.array([np.square(X - z[row]).sum() for row, z in pairs])
