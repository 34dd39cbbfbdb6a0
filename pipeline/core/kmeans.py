"""k-means++ seeding and Lloyd's iterations, all restarts at once."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.validation import (
    FloatArray,
    IntArray,
    as_cluster_count,
    as_matrix,
    as_whole_number,
    refuse_overflow,
)

#: Rounding may make two labellings alternate; no real run comes near this many rounds.
MAX_ROUNDS = 10_000
#: Restarts are taken in groups whose distance table has about this many cells, for the cache.
TABLE_CELLS = 200_000


@dataclass(frozen=True)
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
        leave the first ones as they were. (But for exact ties: a product of more centroids may
        round otherwise in the last bit.)

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
    refuse_overflow(matrix, 2)
    matrix = matrix - matrix.mean(axis=0)  # products cancel badly far from the origin
    streams = _streams(_as_seed_sequence(seed), runs)
    group = max(1, TABLE_CELLS // (len(matrix) * count))
    parts = []
    for first in range(0, runs, group):
        uniforms = np.array([next(streams).random(count) for _ in range(min(group, runs - first))])
        parts.append(lloyd(matrix, matrix[plus_plus(matrix, uniforms)]))
    return KMeansResult(
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.inertia for part in parts]),
        np.concatenate([part.iterations for part in parts]),
    )


def _as_seed_sequence(seed: int | SeedSequence) -> SeedSequence:
    return (
        seed if isinstance(seed, SeedSequence) else SeedSequence(as_whole_number(seed, "seed", 0))
    )


def _streams(seed: SeedSequence, count: int) -> Iterator[Generator]:
    """Yield the stream of each restart; unlike `spawn` this leaves `seed` as it was."""
    for restart in range(count):
        key = (*seed.spawn_key, restart)
        yield Generator(PCG64(SeedSequence(seed.entropy, spawn_key=key)))


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
    centroids = centroids.copy()
    labels = np.full((len(centroids), len(X)), -1, dtype=np.int64)
    iterations = np.zeros(len(centroids), dtype=np.int64)
    active = np.arange(len(centroids))
    for _ in range(MAX_ROUNDS):
        nearest = _nearest(X, centroids[active])
        iterations[active] += 1
        changed = (nearest != labels[active]).any(axis=1)
        active, nearest = active[changed], nearest[changed]
        if not len(active):
            break
        labels[active] = nearest
        centroids[active] = _means(X, nearest, centroids[active])
    return KMeansResult(labels, _inertia(X, labels, centroids), iterations)


def _nearest(X: FloatArray, centroids: FloatArray) -> IntArray:
    r, k, m = centroids.shape
    by_cluster = centroids.transpose(1, 0, 2).reshape(k * r, m)
    scores = (-2 * by_cluster) @ X.T
    scores += np.square(by_cluster).sum(axis=1)[:, np.newaxis]
    nearest, labels = scores[:r], np.zeros((r, len(X)), dtype=np.int64)
    for cluster in range(1, k):
        found = scores[cluster * r : (cluster + 1) * r]
        np.copyto(labels, cluster, where=found < nearest)
        np.minimum(nearest, found, out=nearest)
    return labels


def _means(X: FloatArray, labels: IntArray, centroids: FloatArray) -> FloatArray:
    r, k, m = centroids.shape
    members = (labels[:, np.newaxis, :] == np.arange(k)[:, np.newaxis]).reshape(r * k, -1)
    sums = (members.astype(X.dtype) @ X).reshape(r, k, m)
    sizes = np.count_nonzero(members, axis=1).reshape(r, k, 1)
    return np.where(sizes > 0, sums / np.maximum(sizes, 1), centroids)


def _inertia(X: FloatArray, labels: IntArray, centroids: FloatArray) -> FloatArray:
    pairs = zip(labels, centroids, strict=True)
    return np.array([np.square(X - z[row]).sum() for row, z in pairs])
