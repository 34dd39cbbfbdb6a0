"""k-means++ seeding and Lloyd's iterations, all restarts at once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.nearest import NearestCentroids, label_type
from pipeline.core.types import Float64Array, IntArray, SmallLabels
from pipeline.core.validation import (
    as_cluster_count,
    as_list,
    as_matrix,
    as_seed_sequence,
    as_whole_number,
    refuse_unfit_powers,
)

#: Rounding may make two labellings alternate. No other run comes near this many rounds.
MAX_ROUNDS = 10_000
#: This many restarts are seeded together, fewer if their distances would leave the cache.
RESTARTS_TOGETHER, DISTANCES_TOGETHER = 20, 200_000
#: Sums are computed anew where more than this share of the entities changed cluster.
SHARE_ANEW = 0.1


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
        Rounds of Lloyd's algorithm, including the last one, which changed no label.
    """

    labels: IntArray
    inertia: Float64Array
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
        Restart i draws from a random stream of its own, made from `seed` and i, so that more
        restarts do not change the first ones.

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
    clusters = as_cluster_count(k, len(matrix))
    starts = as_whole_number(restarts, "restarts", 1)
    sequence = as_seed_sequence(seed)
    refuse_unfit_powers(matrix, 2)
    matrix = matrix - matrix.mean(axis=0)  # far from the origin, products would lose digits
    return lloyd(matrix, matrix[_starts(matrix, clusters, starts, sequence)])


def kmeans_many(
    Xs: Sequence[ArrayLike], k: int, restarts: int, seeds: Sequence[int | SeedSequence]
) -> list[KMeansResult]:
    """Run `kmeans` on every data set in `Xs`, each with a seed of its own.

    Parameters
    ----------
    Xs : sequence of array_like, each of shape (n, m)
        Data sets, such as one rescaled with several exponents.
    k, restarts
        As for `kmeans`.
    seeds : sequence of int or numpy.random.SeedSequence
        One for each data set.

    Returns
    -------
    list of KMeansResult
        One for each data set. Each equals that of `kmeans` alone, bit for bit.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> [len(result.labels) for result in kmeans_many([X, X], k=2, restarts=3, seeds=[1, 2])]
    [3, 3]
    """
    data_sets, each_seed = as_list(Xs, "Xs", "data sets"), as_list(seeds, "seeds", "seeds")
    if len(data_sets) != len(each_seed):
        raise InvalidInputError(
            f"{len(data_sets)} data sets need as many seeds, got {len(each_seed)}."
        )
    # The restarts of one data set fill the cache: several data sets at once would gain little.
    return [kmeans(X, k, restarts, seed) for X, seed in zip(data_sets, each_seed, strict=True)]


def _starts(X: Float64Array, k: int, restarts: int, seed: SeedSequence) -> IntArray:
    """Return the rows that the restarts start from, shape (restarts, k)."""
    together = max(1, min(RESTARTS_TOGETHER, DISTANCES_TOGETHER // len(X)))
    parts = []
    for first in range(0, restarts, together):
        # Always as many, also the last time: how a matrix product rounds depends on its size.
        streams = (_stream(seed, restart) for restart in range(first, first + together))
        parts.append(plus_plus(X, np.array([stream.random(k) for stream in streams])))
    return np.concatenate(parts)[:restarts]


def _stream(seed: SeedSequence, restart: int) -> Generator:
    """Return the random stream of a restart: that of child number `restart` of `seed`.

    The child has the entropy of `seed`, and its spawn key followed by `restart`. This is what
    ``seed.spawn(restart + 1)[restart]`` returns for a new `seed`. But `spawn` counts the children
    in `seed`, so that a second call would return others.

    Examples
    --------
    >>> seed = SeedSequence(1)
    >>> child = Generator(PCG64(SeedSequence(1).spawn(8)[7]))
    >>> bool(_stream(seed, 7).random() == child.random())
    True
    """
    key = (*seed.spawn_key, restart)
    return Generator(PCG64(SeedSequence(seed.entropy, spawn_key=key)))


def plus_plus(X: Float64Array, uniforms: Float64Array) -> IntArray:
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
        The first row is drawn uniformly, each next one with a probability proportional to the
        squared distance to the nearest row chosen before.

    Examples
    --------
    >>> import numpy as np
    >>> plus_plus(np.array([[0.0], [1.0], [3.0]]), np.array([[0.0, 0.05], [0.0, 0.5]])).tolist()
    [[0, 1], [0, 2]]
    """
    n, restart = len(X), np.arange(len(uniforms))
    squares, ones = np.square(X).sum(axis=1), np.ones(n)
    # The product of a row of each is the squared distance |x|**2 - 2 x y + |y|**2.
    left, right = np.column_stack([-2 * X, squares, ones]), np.column_stack([X, ones, squares])
    chosen = np.empty(uniforms.shape, dtype=np.int64)
    chosen[:, 0] = uniforms[:, 0] * n
    nearest = np.full((len(uniforms), n), np.inf)
    for step in range(1, uniforms.shape[1]):
        last = chosen[:, step - 1]
        np.minimum(nearest, left[last] @ right.T, out=nearest)
        np.maximum(nearest, 0.0, out=nearest)
        nearest[restart, last] = 0.0
        cumulated = nearest.cumsum(axis=1)
        threshold = uniforms[:, step] * cumulated[:, -1]
        drawn = (cumulated > threshold[:, np.newaxis]).argmax(axis=1)
        all_chosen = cumulated[:, -1] == 0
        chosen[:, step] = np.where(all_chosen, uniforms[:, step] * n, drawn)
    return chosen


def lloyd(X: Float64Array, centroids: Float64Array) -> KMeansResult:
    """Iterate from the given `centroids`, shape (r, k, m), until no label changes.

    An emptied cluster keeps its centroid, and may win entities back.

    Examples
    --------
    >>> import numpy as np
    >>> lloyd(np.array([[0.0], [1.0], [9.0]]), np.array([[[0.0], [1.0]]])).labels.tolist()
    [[0, 0, 1]]
    """
    r, k, m = centroids.shape
    X = _exactly_summable(X)
    entities, with_ones = NearestCentroids(X, k), np.column_stack([X, np.ones(len(X))])
    final, labels = centroids.copy(), np.empty((r, len(X)), dtype=np.int64)
    iterations, active = np.zeros(r, dtype=np.int64), np.arange(r)
    sums = np.zeros((r, k, m + 1))
    before: SmallLabels = np.full((r, len(X)), k, dtype=label_type(k))  # k: not in any cluster
    for _ in range(MAX_ROUNDS):
        nearest = entities.labels(centroids)
        iterations[active] += 1
        moving = (nearest != before).any(axis=1)
        if not moving.all():
            ended = active[~moving]
            labels[ended], final[ended] = nearest[~moving], centroids[~moving]
            active, nearest, before = active[moving], nearest[moving], before[moving]
            centroids, sums = centroids[moving], sums[moving]
        if not len(active):
            break
        _update(sums, with_ones, before, nearest)
        centroids, before = _means(sums, centroids), nearest
    else:
        labels[active], final[active] = before, centroids
    return KMeansResult(labels, _inertia(X, labels, final), iterations)


def _exactly_summable(X: Float64Array) -> Float64Array:
    """Round every feature to a lattice so coarse that every sum of its values is exact.

    Then sums depend neither on the order of summation nor on values added and subtracted before.
    For n entities this leaves 53 - log2(n) binary digits of the largest value of a feature.
    """
    magnitude, digits = np.frexp(np.abs(X).max(axis=0))[1], np.finfo(X.dtype).nmant + 1
    spacing = magnitude + len(X).bit_length() - digits  # of the lattice, as a power of 2
    return np.asarray(np.ldexp(np.rint(np.ldexp(X, -spacing)), spacing))


def _update(
    sums: Float64Array, with_ones: Float64Array, before: SmallLabels, labels: SmallLabels
) -> None:
    """Update the sums (r, k, m + 1) of all clusters, as entities go from `before` to `labels`."""
    r, k, _ = sums.shape
    places = np.flatnonzero(labels != before)
    restart = places // len(with_ones)
    anew = np.bincount(restart, minlength=r) > SHARE_ANEW * len(with_ones)
    clusters = np.arange(k, dtype=labels.dtype)[:, np.newaxis]
    for one in np.flatnonzero(anew):
        sums[one] = (labels[one] == clusters).astype(with_ones.dtype) @ with_ones
    places = places[~anew[restart]]
    sums += _sums_of(places, labels, with_ones, k) - _sums_of(places, before, with_ones, k)


def _sums_of(
    places: NDArray[np.intp], labels: SmallLabels, with_ones: Float64Array, k: int
) -> Float64Array:
    """Return the sums of the clusters over the entities in some places of (r, n) only."""
    (r, n), width = labels.shape, with_ones.shape[1]
    restart, entity = np.divmod(places, n)
    cluster = restart * k + labels.reshape(-1)[places]
    cells = cluster[:, np.newaxis] * width + np.arange(width)
    flat = np.bincount(cells.reshape(-1), with_ones[entity].reshape(-1), minlength=r * k * width)
    return np.asarray(flat.reshape(r, k, width), dtype=np.float64)


def _means(sums: Float64Array, centroids: Float64Array) -> Float64Array:
    """Return the means of all clusters, whose sizes are the sums of ones. An empty one stays."""
    sizes = sums[:, :, -1:]
    return np.where(sizes > 0, sums[:, :, :-1] / np.maximum(sizes, 1), centroids)


def _inertia(X: Float64Array, labels: IntArray, centroids: Float64Array) -> Float64Array:
    pairs = zip(labels, centroids, strict=True)
    return np.array([np.square(X - z[row]).sum() for row, z in pairs])
