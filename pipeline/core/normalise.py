"""The normalisations: a registry of pure functions, one feature per column."""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import ConstantFeatureWarning
from pipeline.core.types import Float64Array
from pipeline.core.validation import as_choice, as_matrix

Location = Callable[[Float64Array], Float64Array]
Spread = Callable[[Float64Array], Float64Array]


def _mean(X: Float64Array) -> Float64Array:
    return np.asarray(X.mean(axis=0))


def _minimum(X: Float64Array) -> Float64Array:
    return np.asarray(X.min(axis=0))


def _median(X: Float64Array) -> Float64Array:
    return np.asarray(np.median(X, axis=0))


def _origin(X: Float64Array) -> Float64Array:
    return np.zeros(X.shape[1])


def _standard_deviation(X: Float64Array) -> Float64Array:
    """Return the sample standard deviation. A single row has none, and gives zeros."""
    squares = _sum_in_lanes(np.square(X - _mean(X)))
    return np.asarray(np.sqrt(squares / max(1, len(X) - 1)))


def _sum_in_lanes(X: Float64Array) -> Float64Array:
    """Sum each column in the order of MATLAB, with which the authors computed.

    Row i is added to lane i mod 4, and the lanes are added at last. On data of few different
    values, distances tie exactly, and the last bits decide which cluster an entity joins.
    """
    lanes = np.zeros((4, X.shape[1]))
    whole = len(X) // 4 * 4
    for rows in X[:whole].reshape(-1, 4, X.shape[1]):
        lanes += rows
    lanes[: len(X) - whole] += X[whole:]
    return np.asarray(((lanes[0] + lanes[1]) + lanes[2]) + lanes[3])


def _range(X: Float64Array) -> Float64Array:
    return np.asarray(np.ptp(X, axis=0))


def _length(X: Float64Array) -> Float64Array:
    return np.asarray(np.sqrt(np.square(X).sum(axis=0)))


def _median_absolute_deviation(X: Float64Array) -> Float64Array:
    return _median(np.abs(X - _median(X)))


def _one(X: Float64Array) -> Float64Array:
    return np.ones(X.shape[1])


NORMALISATIONS: dict[str, tuple[Location, Spread]] = {
    "z-score": (_mean, _standard_deviation),
    "range": (_mean, _range),
    "min-max": (_minimum, _range),
    "unit-length": (_origin, _length),
    "robust-z-score": (_median, _median_absolute_deviation),
    "none": (_origin, _one),
}


def normalise(X: ArrayLike, name: str) -> Float64Array:
    """Normalise every feature of `X`.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns. It is not changed.
    name : str
        ``z-score``, ``range``, ``min-max``, ``unit-length``, ``robust-z-score``, or ``none`` for
        the data as they are.

    Returns
    -------
    ndarray, shape (n, m)
        The normalised data. A feature without spread (constant, or with a median absolute
        deviation of 0 under ``robust-z-score``) is set to zeros.

    Warns
    -----
    ConstantFeatureWarning
        Names the features that were set to zeros.

    Examples
    --------
    >>> normalise([[1.0, 10.0], [2.0, 30.0], [3.0, 20.0]], "range")
    array([[-0.5, -0.5],
           [ 0. ,  0.5],
           [ 0.5,  0. ]])
    """
    location, spread = NORMALISATIONS[as_choice(name, "normalisation", NORMALISATIONS)]
    if name == "none":
        return as_matrix(X).copy()
    matrix = _near_one(as_matrix(X))
    width = spread(matrix)
    flat = (np.ptp(matrix, axis=0) == 0) | (width < np.finfo(np.float64).tiny)
    if flat.any():
        _warn_of_flat_features(np.flatnonzero(flat).tolist(), name)
    scaled = (matrix - location(matrix)) / np.where(flat, 1.0, width)
    scaled[:, flat] = 0.0
    return np.asarray(scaled)


def _near_one(X: Float64Array) -> Float64Array:
    """Scale each feature by a power of two to below 1, so that no square or sum overflows."""
    return np.asarray(np.ldexp(X, -np.frexp(np.abs(X).max(axis=0))[1]))


def _warn_of_flat_features(columns: list[int], name: str) -> None:
    warnings.warn(
        f"features {columns} have no spread under {name} normalisation and were set to zeros; "
        "drop them to silence this warning",
        ConstantFeatureWarning,
        stacklevel=3,
    )
