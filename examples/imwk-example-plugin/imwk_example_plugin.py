"""Plug-ins for imwk-sweep: the entry points in pyproject.toml refer to these names."""

import numpy as np
from numpy.typing import NDArray

from pipeline.plugins import Clusterer, Score

Matrix = NDArray[np.float64]
Labels = NDArray[np.int64]


def rank(X: Matrix) -> Matrix:
    """Normalise each feature to the ranks of its values, from 0 to 1."""
    return X.argsort(axis=0).argsort(axis=0) / max(1, len(X) - 1)


def _medoids(X: Matrix, k: int, seed: int) -> Labels:
    """Cluster around k rows, which start at random and move to the middle of their clusters."""
    chosen = np.random.default_rng(seed).choice(len(X), k, replace=False)
    distances = np.abs(X[:, np.newaxis] - X).sum(axis=2)
    for _ in range(100):
        labels: Labels = distances[:, chosen].argmin(axis=1)
        inside = [np.flatnonzero(labels == c) for c in range(k)]
        moved = [m[distances[np.ix_(m, m)].sum(axis=0).argmin()] for m in inside if len(m)]
        if len(moved) < k or (chosen == moved).all():
            break
        chosen = np.array(moved)
    return labels


k_medoids = Clusterer(_medoids, random=True)


def _mean_distance(X: Matrix, labels: Labels) -> float:
    """Return the mean distance of rows from the centroid of their cluster."""
    centroids = {c: X[labels == c].mean(axis=0) for c in np.unique(labels)}
    return float(np.mean([np.abs(x - centroids[c]).sum() for x, c in zip(X, labels, strict=True)]))


compactness = Score(_mean_distance, higher_is_better=False, lowest=0)


def rings(seed: int, n: int = 200, noise: float = 0.1) -> tuple[Matrix, Labels]:
    """Generate points on two rings, one inside the other."""
    random = np.random.default_rng(seed)
    y = np.arange(n) % 2
    angle = random.uniform(0, 2 * np.pi, n)
    radius = 1 + y + random.normal(0, noise, n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y
