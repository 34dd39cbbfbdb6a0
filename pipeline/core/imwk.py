"""Intelligent Minkowski weighted k-means: anomalous patterns, then the main loop."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.centres import CentreMethod, centre_method
from pipeline.core.minkowski import dispersions, distances
from pipeline.core.patterns import anomalous_patterns, largest
from pipeline.core.validation import (
    FloatArray,
    IntArray,
    as_cluster_count,
    as_exponent,
    as_matrix,
    refuse_overflow,
)
from pipeline.core.weights import cluster_weights

MAX_ROUNDS = 500


@dataclass(frozen=True)
class ImwkResult:
    """What one run of imwk-means found.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        Cluster of every entity: a row of `centroids`.
    centroids, weights : ndarray, shape (min(k, patterns), m)
        Minkowski centre and feature weights of every cluster; weights sum to 1.
    iterations : int
        Rounds of the main loop, the one that found the end among them.
    patterns : int
        Anomalous patterns that the initialisation found.
    n_clusters : int
        Clusters with members at the end: fewer than k if fewer patterns were found, or if a
        cluster lost all of its members.
    converged : bool
        Whether the labels are a fixed point. False where the run ended in a cycle of labellings
        or at the limit of rounds.
    """

    labels: IntArray
    centroids: FloatArray
    weights: FloatArray
    iterations: int
    patterns: int
    n_clusters: int
    converged: bool


def imwk(X: ArrayLike, k: int, p: float, centre: str = "exact") -> ImwkResult:
    """Cluster `X` by intelligent Minkowski weighted k-means. Deterministic.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns; normalise them first.
    k : int
        Number of clusters, 1 to n. Fewer are formed if fewer anomalous patterns exist.
    p : float
        Minkowski exponent, at least 1. It weighs the features too: near 1 a cluster relies on
        few features, for large p on all alike.
    centre : {"exact", "fixed-step"}
        How centres are found; ``fixed-step`` repeats the published figures on real data.

    Returns
    -------
    ImwkResult
        Labels, centroids, weights and how the run went.

    Examples
    --------
    >>> X = [[0.0, 0.3], [0.1, 0.9], [0.9, 0.1], [1.0, 0.8], [1.1, 0.2], [-0.1, 0.5]]
    >>> result = imwk(X, k=2, p=1.5)
    >>> result.labels.tolist()
    [1, 1, 0, 0, 0, 1]
    >>> bool((result.weights[:, 0] > result.weights[:, 1]).all())
    True
    """
    return imwk_many(X, k, [p], centre)[0]


def imwk_many(X: ArrayLike, k: int, ps: Iterable[float], centre: str = "exact") -> list[ImwkResult]:
    """Run `imwk` once for each exponent in `ps`.

    Parameters
    ----------
    X, k, centre
        As for `imwk`.
    ps : iterable of float
        Minkowski exponents, each at least 1.

    Returns
    -------
    list of ImwkResult
        One for each exponent, in their order; each equals that of `imwk` alone.

    Examples
    --------
    >>> [run.n_clusters for run in imwk_many([[0.0], [0.1], [5.0], [5.1]], k=2, ps=[1.5, 2, 3])]
    [2, 2, 2]
    """
    matrix = as_matrix(X)
    count = as_cluster_count(k, len(matrix))
    exponents = [as_exponent(p) for p in ps]
    for p in exponents:
        refuse_overflow(matrix, p)
    find_centre = centre_method(centre, matrix)
    return [_run(matrix, count, p, find_centre) for p in exponents]


def _run(X: FloatArray, k: int, p: float, find_centre: CentreMethod) -> ImwkResult:
    patterns = anomalous_patterns(X, p, find_centre)
    kept = largest(patterns, k)
    centroids = np.array([pattern.centroid for pattern in kept])
    weights = np.array([pattern.weights for pattern in kept])
    labels = np.full(len(X), -1)
    seen: set[bytes] = set()
    converged = False
    for iterations in range(1, MAX_ROUNDS + 1):
        proposed = assign(X, centroids, weights, p)
        if proposed.tobytes() in seen:
            converged = np.array_equal(proposed, labels)
            break
        labels = proposed
        seen.add(labels.tobytes())
        moved = _centroids(X, labels, centroids, p, find_centre)
        # In round 1 the centroids are the patterns', whose weights have another smoothing: the
        # published figures need these weights replaced even where no centroid moves.
        if iterations > 1 and np.array_equal(moved, centroids):
            converged = True
            break
        centroids = moved
        weights = cluster_weights(_dispersions(X, labels, centroids, p), p)
    n_clusters = len(np.unique(labels))
    return ImwkResult(labels, centroids, weights, iterations, len(patterns), n_clusters, converged)


def assign(X: FloatArray, centroids: FloatArray, weights: FloatArray, p: float) -> IntArray:
    """Return the nearest cluster of every entity, the lowest index on a tie."""
    table = [distances(X, z, w, p) for z, w in zip(centroids, weights, strict=True)]
    return np.asarray(np.argmin(table, axis=0))


def _centroids(
    X: FloatArray, labels: IntArray, centroids: FloatArray, p: float, find_centre: CentreMethod
) -> FloatArray:
    """Move the centroids of clusters with two members or more; others keep theirs."""
    moved = centroids.copy()
    sizes = np.bincount(labels, minlength=len(centroids))
    for cluster in np.flatnonzero(sizes >= 2):
        moved[cluster] = find_centre(X[labels == cluster], p)
    return moved


def _dispersions(X: FloatArray, labels: IntArray, centroids: FloatArray, p: float) -> FloatArray:
    return np.array([dispersions(X[labels == c], z, p) for c, z in enumerate(centroids)])
