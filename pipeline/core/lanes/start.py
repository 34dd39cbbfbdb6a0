"""From complete patterns to the start of the main loop: the k largest of every lane."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pipeline.core.types import Float64Array, FloatArray, IntArray


class CompletePatterns(NamedTuple):
    """Patterns that are complete, in the order in which they were found.

    `lanes` and `sizes` are (patterns,), `centroids` and `weights` (m, patterns).
    """

    lanes: IntArray
    sizes: IntArray
    centroids: FloatArray
    weights: Float64Array


@dataclass(frozen=True)
class Start:
    """Where the main loop of every lane starts: the lane's `k` largest patterns.

    Attributes
    ----------
    centroids, weights
        Of the patterns kept, the largest first; zeros where a lane has fewer than k; (m, lanes, k).
    clusters
        How many of the k a lane has; (lanes,).
    patterns
        How many patterns a lane found; (lanes,).
    """

    centroids: Float64Array
    weights: Float64Array
    clusters: IntArray
    patterns: IntArray


def largest_patterns(found: list[CompletePatterns], k: int) -> Start:
    """Return the `k` patterns of each lane with most members; on a tie the one found first."""
    lanes, sizes, centroids, weights = (
        np.concatenate(part, axis=-1) for part in zip(*found, strict=True)
    )
    order = np.lexsort((-sizes, lanes))
    patterns = np.bincount(lanes)
    rank = np.arange(len(lanes)) - np.repeat(np.cumsum(patterns) - patterns, patterns)
    kept, rank = order[rank < k], rank[rank < k]
    start = np.zeros((2, len(centroids), len(patterns), k))
    start[0][:, lanes[kept], rank] = centroids[:, kept]
    start[1][:, lanes[kept], rank] = weights[:, kept]
    return Start(start[0], start[1], np.minimum(patterns, k), patterns)
