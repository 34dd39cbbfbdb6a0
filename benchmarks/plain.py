"""imwk-means as one would write it in plain NumPy, the yardstick of the lanes.

One run at a time, vectorised over its entities and features.
"""

import numpy as np

from pipeline.core.types import Float64Array, IntArray

SMALL_DISPERSION, MAX_ROUNDS = 0.01, 500
LAST_STEP, LAST_STEP_BELOW_2 = 1e-5, 1e-6


def plain_imwk(X: Float64Array, k: int, p: float) -> IntArray:
    """Return the labels of one run with exact centres."""
    patterns = _patterns(X, p)
    kept = sorted(patterns, key=lambda pattern: -pattern[2])[:k]
    centroids, weights = (np.array([pattern[part] for pattern in kept]) for part in (0, 1))
    labels, seen = np.full(len(X), -1), set[bytes]()
    while len(seen) < MAX_ROUNDS:
        table = [_distances(X, z, w, p) for z, w in zip(centroids, weights, strict=True)]
        proposed = np.argmin(table, axis=0)
        if proposed.tobytes() in seen:
            break
        labels = proposed
        seen.add(labels.tobytes())
        for cluster in range(len(centroids)):
            members = X[labels == cluster]
            if len(members) > 1:
                centroids[cluster] = _centre(members, p)
        D = np.array([_dispersions(X[labels == c], z, p) for c, z in enumerate(centroids)])
        weights = np.array([_weights(row + (D.mean() or SMALL_DISPERSION), p) for row in D])
    return labels


def _patterns(X: Float64Array, p: float) -> list[tuple[Float64Array, Float64Array, int]]:
    to_centre = np.abs(X - _centre(X, p)) ** p
    patterns = []
    while len(X):
        members, centroid, weights = _grow(X, to_centre, p)
        patterns.append((centroid, weights, int(members.sum())))
        X, to_centre = X[~members], to_centre[~members]
    return patterns


def _grow(
    X: Float64Array, to_centre: Float64Array, p: float
) -> tuple[np.ndarray, Float64Array, Float64Array]:
    weights = np.full(X.shape[1], 1 / X.shape[1])
    seed = len(X) - 1 - int((to_centre @ weights**p)[::-1].argmax())
    centroid, before = X[seed], np.zeros(len(X), dtype=bool)
    for _ in range(MAX_ROUNDS):
        members = _distances(X, centroid, weights, p) < to_centre @ weights**p
        if not members.any():
            members[seed] = True
        moved = _centre(X[members], p)
        if np.array_equal(members, before) or np.array_equal(moved, centroid):
            break
        centroid, before = moved, members
        weights = _weights(_dispersions(X[members], centroid, p) + SMALL_DISPERSION, p)
    return members, centroid, weights


def _distances(
    X: Float64Array, centroid: Float64Array, weights: Float64Array, p: float
) -> Float64Array:
    return np.asarray(np.abs(X - centroid) ** p @ weights**p)


def _dispersions(members: Float64Array, centroid: Float64Array, p: float) -> Float64Array:
    return np.asarray((np.abs(members - centroid) ** p).sum(axis=0))


def _weights(smoothed: Float64Array, p: float) -> Float64Array:
    exponents = -np.log(smoothed) / (p - 1)
    relative = np.exp(exponents - exponents.max())
    return np.asarray(relative / relative.sum())


def _centre(X: Float64Array, p: float) -> Float64Array:
    """Newton's method in a bracket; below p = 2, where it stalls, every third step halves that."""
    centre = X.mean(axis=0)
    if p == 2 or len(X) == 1:
        return np.asarray(centre)
    low, high = X.min(axis=0), X.max(axis=0)
    last_step = (LAST_STEP if p > 2 else LAST_STEP_BELOW_2) * (high - low)
    for round_ in range(1, 100):
        difference = centre - X
        size = np.maximum(np.abs(difference), 1e-300)
        to_q = size ** (p - 1)
        slope = np.copysign(to_q, difference).sum(axis=0)
        low, high = np.where(slope < 0, centre, low), np.where(slope > 0, centre, high)
        step = -slope / np.maximum((p - 1) * (to_q / size).sum(axis=0), 1e-300)
        halve = (centre + step < low) | (centre + step > high) | (p < 2 and round_ % 3 == 0)
        moved = np.where(halve, (low + high) / 2, centre + step)
        close = np.minimum(np.abs(moved - centre), high - low) <= last_step
        centre = moved
        if close.all():
            break
    return np.asarray(centre)
