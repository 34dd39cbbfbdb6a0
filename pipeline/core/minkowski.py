"""Minkowski powers, distances and dispersions: the only module that raises data to a power."""

import numpy as np

from pipeline.core.validation import FloatArray


def powers(differences: FloatArray, p: float) -> FloatArray:
    """Return ``|differences| ** p``, without a call of `pow` where products do."""
    size = np.abs(differences)
    if p == 1:
        return size
    return np.asarray(size * size if p == 2 else size**p)


def weigh(differences_to_p: FloatArray, weights: FloatArray, p: float) -> FloatArray:
    """Return the weighted distance of every row, given its powers and one weight vector.

    A plain sum along each row, not a matrix product: equal rows must get equal distances, bit for
    bit, because ties decide.
    """
    return np.asarray((differences_to_p * weights**p).sum(axis=1))


def distances(X: FloatArray, centroid: FloatArray, weights: FloatArray, p: float) -> FloatArray:
    """Return ``sum_v (weights_v ** p) * |x_v - centroid_v| ** p`` for every row of `X`."""
    return weigh(powers(X - centroid, p), weights, p)


def dispersions(members: FloatArray, centroid: FloatArray, p: float) -> FloatArray:
    """Return the sum over `members` of ``|x_v - centroid_v| ** p``, one value per feature."""
    return np.asarray(powers(members - centroid, p).sum(axis=0))
