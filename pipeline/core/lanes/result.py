"""What one run of imwk-means returns."""

from dataclasses import dataclass

from pipeline.core.types import Float64Array, IntArray


@dataclass(frozen=True, eq=False)
class ImwkResult:
    """What one run of imwk-means found.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        Cluster of every entity: a row of `centroids`.
    centroids, weights : ndarray, shape (min(k, patterns), m)
        Minkowski centre and feature weights of every cluster; weights sum to 1.
    iterations : int
        Rounds of the main loop, including the one that found the end.
    patterns : int
        Anomalous patterns that the initialisation found. It ends as soon as no further pattern
        could be one of the k largest.
    n_clusters : int
        Clusters with members at the end: fewer than k if fewer patterns were found, or if a
        cluster lost all of its members.
    converged : bool
        Whether the labels are a fixed point. False where the run ended in a cycle of labellings
        or at the limit of rounds.
    """

    labels: IntArray
    centroids: Float64Array
    weights: Float64Array
    iterations: int
    patterns: int
    n_clusters: int
    converged: bool
