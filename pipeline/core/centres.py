"""Minkowski centres: per feature, the value with the least sum of p-th powers of differences."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import powers
from pipeline.core.validation import (
    FloatArray,
    as_choice,
    as_exponent,
    as_matrix,
    refuse_overflow,
)

#: Width of the final bracket of an exact centre, as a share of the feature's range.
TOLERANCE = 1e-10

FIRST_STEP = 0.001
LAST_STEP = 1e-4
STEP_SHRINKAGE = 0.9
#: The fixed-step walk takes up to one evaluation per 0.001 of range: wider data would never end.
WIDEST_WALK = 1000.0

CentreMethod = Callable[[FloatArray, float], FloatArray]


def minkowski_centre(X: ArrayLike, p: float, method: str = "exact") -> FloatArray:
    """Find the Minkowski centre of the rows of `X`.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns.
    p : float
        Exponent, at least 1. The centre is the median at 1 and the mean at 2.
    method : {"exact", "fixed-step"}
        ``exact`` is good to 1e-10 of each feature's range; ``fixed-step`` is the walk of
        the paper's authors, good to about 5e-4, which the published figures need.

    Returns
    -------
    ndarray, shape (m,)
        The centre.

    Examples
    --------
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=2).tolist()
    [1.0]
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=1).tolist()
    [0.0]
    """
    matrix, exponent = as_matrix(X), as_exponent(p)
    refuse_overflow(matrix, exponent)
    return centre_method(method, matrix)(matrix, exponent)


def centre_method(name: str, X: FloatArray) -> CentreMethod:
    """Look a method up by name, and refuse data that it cannot serve."""
    as_choice(name, "centre", CENTRES)
    widest = float(np.ptp(X, axis=0).max())
    if name == "fixed-step" and widest > WIDEST_WALK:
        raise InvalidInputError(
            f"a feature of X spans {widest:.3g}, which the fixed-step centre would cross in steps "
            f"of {FIRST_STEP}. Normalise X first, or use centre='exact'."
        )
    return CENTRES[name]


def _exact(X: FloatArray, p: float) -> FloatArray:
    plain = _plain_centre(X, p)
    if plain is not None:
        return plain
    centre: FloatArray = X.min(axis=0)
    span = X.max(axis=0) - centre
    wide = np.flatnonzero(span)
    centre[wide] += span[wide] * _unit_centre((X[:, wide] - centre[wide]) / span[wide], p)
    return centre


def _fixed_step(X: FloatArray, p: float) -> FloatArray:
    plain = _plain_centre(X, p)
    return _walk(X, p) if plain is None else plain


CENTRES: dict[str, CentreMethod] = {"exact": _exact, "fixed-step": _fixed_step}


def _plain_centre(X: FloatArray, p: float) -> FloatArray | None:
    """Return the centre where it has a closed form."""
    if len(X) == 1:
        return np.array(X[0])
    if p == 2:
        return _mean(X)
    if p == 1:
        return np.asarray(np.median(X, axis=0))
    return None


def _mean(X: FloatArray) -> FloatArray:
    """Return the mean; rounding must not move it off the value of a constant feature."""
    return np.asarray(np.clip(X.mean(axis=0), X.min(axis=0), X.max(axis=0)))


def _walk(X: FloatArray, p: float) -> FloatArray:
    """Walk from the mean in steps that shrink where they no longer descend, as the authors do."""

    def cost(at: FloatArray) -> FloatArray:
        return np.asarray(powers(X - at, p).sum(axis=0))

    centre = _mean(X)
    lowest = cost(centre)
    step = np.where(lowest < cost(centre + FIRST_STEP), -FIRST_STEP, FIRST_STEP)
    while (np.abs(step) >= LAST_STEP).any():
        there = cost(centre + step)
        better = there < lowest
        centre = np.where(better, centre + step, centre)
        lowest = np.where(better, there, lowest)
        step = np.where(better, step, step * STEP_SHRINKAGE)
    return centre


def _unit_centre(U: FloatArray, p: float) -> FloatArray:
    """Find the centre of features that span 0 to 1, each on its own, as the root of the slope.

    Chandrupatla's method: inverse quadratic interpolation where that is safe, bisection elsewhere.
    It needs no second derivative, which for p < 2 is infinite at every data value.
    """
    centre = np.empty(U.shape[1])
    active = np.arange(U.shape[1])
    a, b = np.zeros(U.shape[1]), np.ones(U.shape[1])
    slope_a, slope_b = _slope(U, a, p), _slope(U, b, p)
    guess = U.mean(axis=0)
    while True:
        slope = _slope(U, guess, p)
        same = (slope < 0) == (slope_a < 0)
        c, slope_c = np.where(same, a, b), np.where(same, slope_a, slope_b)
        b, slope_b = np.where(same, b, a), np.where(same, slope_b, slope_a)
        a, slope_a = guess, slope
        best = np.where(np.abs(slope_a) < np.abs(slope_b), a, b)
        open_ = (np.abs(b - a) > TOLERANCE) & (slope_a != 0) & (slope_b != 0)
        centre[active[~open_]] = best[~open_]
        if not open_.any():
            return centre
        active, U = active[open_], U[:, open_]
        a, b, c = a[open_], b[open_], c[open_]
        slope_a, slope_b, slope_c = slope_a[open_], slope_b[open_], slope_c[open_]
        guess = _next_guess(a, b, c, slope_a, slope_b, slope_c)


def _slope(U: FloatArray, at: FloatArray, p: float) -> FloatArray:
    differences = at - U
    return np.asarray(np.copysign(powers(differences, p - 1), differences).sum(axis=0))


def _next_guess(
    a: FloatArray,
    b: FloatArray,
    c: FloatArray,
    slope_a: FloatArray,
    slope_b: FloatArray,
    slope_c: FloatArray,
) -> FloatArray:
    xi = (a - b) / (c - b)
    phi = (slope_a - slope_b) / (slope_c - slope_b)
    safe = (phi**2 < xi) & ((1 - phi) ** 2 < 1 - xi)
    slope_c = np.where(safe, slope_c, 2 * slope_a)  # unused there, but no difference may be zero
    inverse = slope_a / (slope_b - slope_a) * slope_c / (slope_b - slope_c) + (
        (c - a) / (b - a) * slope_a / (slope_c - slope_a) * slope_b / (slope_c - slope_b)
    )
    share = np.where(safe, inverse, 0.5)
    least = 0.5 * TOLERANCE / np.abs(b - a)
    return np.asarray(a + np.clip(share, least, 1 - least) * (b - a))
