"""Slow and obvious imwk-means: the oracle the fast core is tested against.

Every rule is written out as plainly as it is stated, and nothing is shared with the core. Besides
its result a run reports `margin`, the closest call among all its decisions: where that is about
the size of rounding errors, another order of summation may rightly end in another partition.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LIMIT = 500
PATTERN_SMOOTHING = 0.01
STILL = 1e-6
#: Error of a centre, as a share of the feature's range, that two good programs may differ by.
CENTRE_ERROR = 1e-9


@dataclass
class Margin:
    """The smallest relative gap among the decisions noted so far."""

    smallest: float = math.inf

    def note(self, gap: float) -> None:
        """Take one more decision into account."""
        self.smallest = min(self.smallest, gap)


@dataclass(frozen=True, eq=False)
class Pattern:
    """One anomalous pattern: its members' row indices, their centre and their weights."""

    members: list[int]
    centre: FloatArray
    weights: FloatArray


@dataclass(frozen=True, eq=False)
class Run:
    """The outcome of one run of imwk-means.

    Attributes
    ----------
    labels, centroids, weights
        The final clustering: shapes (n,), (kept, m) and (kept, m), kept = min(k, patterns).
    iterations
        Rounds of the main loop, with the one that found the stop.
    patterns
        Anomalous patterns found by the initialisation.
    n_clusters
        Clusters with members at the end.
    converged
        Whether the labelling is stable, not one of a cycle or of a run cut short.
    margin
        The smallest relative gap of any decision of the run that rounding could turn.
    """

    labels: IntArray
    centroids: FloatArray
    weights: FloatArray
    iterations: int
    patterns: int
    n_clusters: int
    converged: bool
    margin: float


def relative_gap(a: float, b: float, blur: float = 0.0) -> float:
    """Return how far |a - b| exceeds its uncertainty, relative to the larger of the two."""
    if abs(a - b) <= blur:
        return 0.0
    return (abs(a - b) - blur) / max(abs(a), abs(b))


# Minkowski centres


def exact_centre(X: FloatArray, p: float) -> FloatArray:
    """Return, per feature, the mu that minimises sum |x - mu| ** p, to the last bits."""
    low, high = X.min(axis=0), X.max(axis=0)
    span = np.where(high > low, high - low, 1.0)
    if p == 2:
        mu = np.mean(X, axis=0)
    elif p == 1:
        mu = np.median(X, axis=0)
    else:
        mu = low + span * _unit_centre((X - low) / span, p)
    return np.asarray(np.where(high > low, mu, low))


def _unit_centre(U: FloatArray, p: float) -> FloatArray:
    """Bisect the slope, which rises with mu, for features that span 0 to 1."""
    left, right = np.zeros(U.shape[1]), np.ones(U.shape[1])
    for _ in range(60):
        middle = (left + right) / 2
        slope = np.sum(np.sign(middle - U) * np.abs(middle - U) ** (p - 1), axis=0)
        left = np.where(slope < 0, middle, left)
        right = np.where(slope < 0, right, middle)
    return middle


def fixed_step_centre(X: FloatArray, p: float) -> FloatArray:
    """Return the centre of the rows of X as the authors' program finds it."""
    if p in (1, 2) or len(X) == 1:
        return exact_centre(X, p)
    mu = exact_centre(X, 2)
    step = np.full(X.shape[1], 0.001)
    step[dispersions(X, mu, p) < dispersions(X, mu + 0.001, p)] = -0.001
    while np.any(np.abs(step) >= 1e-4):
        better = dispersions(X, mu + step, p) < dispersions(X, mu, p)
        mu = np.where(better, mu + step, mu)
        step = np.where(better, step, step * 0.9)
    return mu


def centre_of(X: FloatArray, p: float, centre: str) -> FloatArray:
    """Return the centre of the rows of X, found in the way `centre` names."""
    return _remembered_centre(X.tobytes(), X.shape, p, centre)


# A cycle comes back to the same few groups of rows hundreds of times.
@lru_cache(maxsize=1000)
def _remembered_centre(rows: bytes, shape: tuple[int, ...], p: float, centre: str) -> FloatArray:
    X = np.frombuffer(rows).reshape(shape)
    if centre == "exact":
        return exact_centre(X, p)
    if centre == "fixed-step":
        return fixed_step_centre(X, p)
    raise ValueError(f"centre must be 'exact' or 'fixed-step', got {centre!r}")


# Dispersions, weights, distances


def dispersions(members: FloatArray, centroid: FloatArray, p: float) -> FloatArray:
    """Return, per feature, the sum over members of |x - centroid| ** p."""
    return np.asarray(np.sum(np.abs(members - centroid) ** p, axis=0))


def weights(smoothed: FloatArray, p: float) -> FloatArray:
    """Return one cluster's feature weights from its smoothed dispersions.

    The formula 1 / sum_j (S_v / S_j) ** (1 / (p - 1)), as S_v ** (-1 / (p - 1)) over its sum.
    """
    if p == 1:
        chosen = np.zeros(len(smoothed))
        chosen[int(np.argmin(smoothed))] = 1.0
        return chosen
    logs = -np.log(smoothed) / (p - 1)
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def _weigh(smoothed: FloatArray, p: float, margin: Margin) -> FloatArray:
    """Return the weights, noting at p = 1 how close the choice of the feature was."""
    if p == 1 and len(smoothed) > 1:
        least, second = sorted(smoothed.tolist())[:2]
        margin.note(relative_gap(least, second))
    return weights(smoothed, p)


def distances(X: FloatArray, centroid: FloatArray, weights: FloatArray, p: float) -> list[float]:
    """Return sum_v weights_v ** p * |x_v - centroid_v| ** p of every row x."""
    return [float(d) for d in np.sum(weights**p * np.abs(X - centroid) ** p, axis=1)]


def blur(X: FloatArray, weights: FloatArray, p: float) -> float:
    """Return the distance that an allowed error of the centroid makes on its own.

    Near p = 1 the centre all but coincides with an entity, whose tiny distance is then an error.
    """
    error = CENTRE_ERROR * (X.max(axis=0) - X.min(axis=0))
    return distances(error[np.newaxis], np.zeros(len(error)), weights, p)[0]


# Anomalous-pattern initialisation


def anomalous_patterns(X: FloatArray, p: float, centre: str, margin: Margin) -> list[Pattern]:
    """Return all patterns of X, in the order in which they are found."""
    z_c = centre_of(X, p, centre)
    remaining = list(range(len(X)))
    patterns = []
    while remaining:
        pattern = _one_pattern(X, remaining, z_c, p, centre, margin)
        patterns.append(pattern)
        remaining = [i for i in remaining if i not in pattern.members]
    return patterns


def _one_pattern(
    X: FloatArray, remaining: list[int], z_c: FloatArray, p: float, centre: str, margin: Margin
) -> Pattern:
    """Return the next pattern among the remaining entities, in up to 500 rounds."""
    w_t = np.full(X.shape[1], 1 / X.shape[1])
    rest = X[remaining]
    seed = _farthest(X, remaining, distances(rest, z_c, w_t, p), margin)
    z_t = X[seed]
    before: list[int] = []
    for _ in range(LIMIT):
        to_pattern = distances(rest, z_t, w_t, p)
        to_centre = distances(rest, z_c, w_t, p)
        members = _nearer(remaining, to_pattern, to_centre, blur(X, w_t, p), margin) or [seed]
        if members == before:
            break
        moved = centre_of(X[members], p, centre)
        if _is_still(moved, z_t, X) and (before or not _all_identical(X[members])):
            margin.note(0.0)
        # The entities seen last are the pattern, also when their centre stays where it was.
        before = members
        if np.array_equal(moved, z_t):
            break
        z_t = moved
        smoothed = dispersions(X[members], z_t, p) + PATTERN_SMOOTHING
        w_t = _weigh(smoothed, p, margin)
    return Pattern(before, z_t, w_t)


def _farthest(X: FloatArray, remaining: list[int], far: list[float], margin: Margin) -> int:
    """Return the remaining entity of largest distance, on a tie the one of highest index."""
    largest, seed = max(zip(far, remaining, strict=True))
    for d, i in zip(far, remaining, strict=True):
        # Copies of one row make the same pattern, whichever of them is the seed.
        if not np.array_equal(X[i], X[seed]):
            margin.note(relative_gap(d, largest))
    return seed


def _nearer(
    remaining: list[int],
    to_pattern: list[float],
    to_centre: list[float],
    uncertainty: float,
    margin: Margin,
) -> list[int]:
    """Return the remaining entities strictly nearer to the pattern than to the centre."""
    members = []
    for i, t, c in zip(remaining, to_pattern, to_centre, strict=True):
        margin.note(relative_gap(t, c, uncertainty))
        if t < c:
            members.append(i)
    return members


def _is_still(new: FloatArray, old: FloatArray, X: FloatArray) -> bool:
    """Return whether the moves are so small that rounding decides whether there is any."""
    span = X.max(axis=0) - X.min(axis=0)
    # On a constant feature any move is rounding.
    return bool(np.all((np.abs(new - old) <= STILL * span) | (span == 0)))


def _all_identical(rows: FloatArray) -> bool:
    return bool(np.all(rows == rows[:1]))


# Main loop


def assign(
    X: FloatArray, centroids: FloatArray, weights: FloatArray, p: float
) -> tuple[IntArray, FloatArray]:
    """Assign every entity to its nearest cluster, on a tie to the one of lowest index.

    Returns
    -------
    labels
        The cluster of each entity.
    margins
        Per entity the relative gap of its two smallest distances; infinite with one cluster.
        Clusters that are copies of the nearest one are left out.
    """
    labels = np.zeros(len(X), dtype=np.int64)
    margins = np.full(len(X), math.inf)
    uncertainty = max(blur(X, w, p) for w in weights)
    columns = [distances(X, z, w, p) for z, w in zip(centroids, weights, strict=True)]
    for i, far in enumerate(zip(*columns, strict=True)):
        labels[i] = far.index(min(far))
        others = [d for c, d in enumerate(far) if not _are_copies(c, labels[i], centroids, weights)]
        if others:
            margins[i] = relative_gap(min(far), min(others), uncertainty)
    return labels, margins


def _are_copies(a: int, b: int, centroids: FloatArray, weights: FloatArray) -> bool:
    """Return whether two clusters are alike to the last bit: their ties are exact everywhere."""
    pair = [a, b]
    return bool(np.ptp(centroids[pair], axis=0).max() == np.ptp(weights[pair], axis=0).max() == 0)


def _moved_centroids(
    X: FloatArray, labels: IntArray, centroids: FloatArray, p: float, centre: str
) -> FloatArray:
    """Return the new centroids; a cluster of one entity or none keeps its own."""
    moved = centroids.copy()
    for cluster in range(len(centroids)):
        members = X[labels == cluster]
        if len(members) >= 2:
            moved[cluster] = centre_of(members, p, centre)
    return moved


def _main_weights(
    X: FloatArray, labels: IntArray, centroids: FloatArray, p: float, margin: Margin
) -> FloatArray:
    """Return the weights of all clusters, smoothed by the mean of all dispersions."""
    D = np.array([dispersions(X[labels == c], z, p) for c, z in enumerate(centroids)])
    smoothing = float(np.mean(D))
    if smoothing == 0:
        smoothing = PATTERN_SMOOTHING
    return np.array([_weigh(row + smoothing, p, margin) for row in D])


def _main_loop(
    X: FloatArray, patterns: list[Pattern], p: float, centre: str, margin: Margin
) -> tuple[IntArray, FloatArray, FloatArray, int, bool]:
    """Return labels, centroids, weights, iterations and whether the labelling is stable."""
    centroids = np.array([pattern.centre for pattern in patterns])
    w = np.array([pattern.weights for pattern in patterns])
    labels = np.full(len(X), -1, dtype=np.int64)
    seen: list[list[int]] = []
    for iterations in range(1, LIMIT + 1):
        new, gaps = assign(X, centroids, w, p)
        margin.note(float(gaps.min()))
        if new.tolist() in seen:
            return labels, centroids, w, iterations, np.array_equal(new, labels)
        labels = new
        moved = _moved_centroids(X, labels, centroids, p, centre)
        # In round 1 the weights are those of the patterns, with another smoothing, and are always
        # replaced: the published value of Ecoli cannot be reached if that round may stop.
        if iterations > 1:
            if _is_still(moved, centroids, X):
                margin.note(0.0)
            if np.array_equal(moved, centroids):
                return labels, centroids, w, iterations, True
        seen.append(labels.tolist())
        centroids = moved
        w = _main_weights(X, labels, centroids, p, margin)
    return labels, centroids, w, LIMIT, False


def imwk(X: FloatArray, k: int, p: float, centre: str = "exact") -> Run:
    """Cluster the rows of X into at most k clusters by imwk-means with exponent p.

    Parameters
    ----------
    X
        The normalised data, one entity a row.
    k
        The number of patterns to keep.
    p
        The exponent, at least 1.
    centre
        How Minkowski centres are found: 'exact' or 'fixed-step'.
    """
    margin = Margin()
    patterns = anomalous_patterns(X, p, centre, margin)
    # sorted is stable: of two patterns of one size the first found comes first.
    kept = sorted(patterns, key=lambda pattern: -len(pattern.members))[:k]
    labels, centroids, w, iterations, converged = _main_loop(X, kept, p, centre, margin)
    n_clusters = len(set(labels.tolist()))
    return Run(
        labels, centroids, w, iterations, len(patterns), n_clusters, converged, margin.smallest
    )
