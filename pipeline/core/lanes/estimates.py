"""Distances in float32, and how wrong they can be.

Two distances almost always differ by far more than the error of float32, and float32 takes half
the time of float64, or a quarter on an old CPU. So distances are first estimated in
float32, and only comparisons that stay open are made in the precision of the run. No result
depends on an estimate.

float64 data are taken in units of their largest size, so that differences are at most 2, and wrong
by `ROUNDING` at most. By the triangle inequality a distance ``||w (x - z)||_p`` is then wrong by
``ROUNDING ||w||_p`` and a small share of itself. Powers that are too small for float32 vanish.
float32 data keep their unit, and so do the centroids, which are float32 numbers in such a run:
their differences are wrong by a small share only.
"""

import numpy as np

from pipeline.core.minkowski import power, spread_exponents
from pipeline.core.types import Float32Array, Float64Array, FloatArray, IntArray

TINY = float(np.finfo(np.float32).tiny)
#: Error of the difference of two rounded values: twice what it can be.
ROUNDING = 4 * float(np.finfo(np.float32).eps)
#: Relative error of exp(p * log(x)), with a wide margin, and what each feature of a sum adds to it.
RELATIVE, RELATIVE_EACH = 4e-5, float(np.finfo(np.float32).eps)
#: Rounding of one operation, with a margin: what bounds lose as they follow the clusters.
STEP = 1e-6
#: For larger exponents powers come near the largest number: estimates settle nothing.
LARGEST_EXPONENT, LARGEST_POWER = 100.0, 1e35


def scales(X: FloatArray) -> Float64Array:
    """Return the units of the lanes of `X` (m, lanes, n): their largest sizes; 1 for float32."""
    if X.dtype == np.float32:
        return np.ones(X.shape[1])
    largest = largest_sizes(X)
    return np.where(largest > 0, largest, 1.0)


def largest_sizes(X: FloatArray) -> Float64Array:
    """Return the largest size of a value in each lane of `X` (m, lanes, n)."""
    return np.asarray(np.abs(X).max(axis=(0, 2)), dtype=np.float64)


def in_float32(X: FloatArray, scale: Float64Array) -> Float32Array:
    """Return `X` in units of `scale`, which is `X` itself if that is float32."""
    if X.dtype == np.float32:
        return X.astype(np.float32, copy=False)
    return (X / scale).astype(np.float32)


def powers_in_float32(to_p: FloatArray, scale: Float64Array, p: Float64Array) -> Float32Array:
    """Return p-th powers of numbers in units of `scale`, or `to_p` itself if that is float32.

    Some may be too large, or NaN where the scale's power overflows: they settle nothing.
    """
    if to_p.dtype == np.float32:
        return to_p.astype(np.float32, copy=False)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.minimum(to_p / power(scale, p), LARGEST_POWER).astype(np.float32)


def rough_exponents(p: Float64Array) -> Float64Array:
    """Return exponents for estimates, none so large that powers overflow."""
    return np.minimum(p, LARGEST_EXPONENT)


def distance_bounds(
    to_p: Float32Array,
    p: Float64Array,
    weights_to_p: Float32Array,
    counts: IntArray,
    reach: Float64Array,
    rounding: float,
) -> tuple[Float32Array, Float32Array]:
    """Return lower and upper bounds of distances, given estimates of their p-th powers.

    Parameters
    ----------
    to_p
        The estimates, in groups of `counts`.
    p, weights_to_p
        The exponent (groups,) and the p-th powers of the weights (m, groups) of each group.
    counts
        Number of estimates in each group.
    reach
        Largest size of a value, at least 1, for each group: differences are up to twice as large.
    rounding
        How wrong the differences were before they were raised to powers.
    """
    roots = power(to_p, spread_exponents(1 / p, counts, to_p.dtype))
    lost = np.full(len(p), len(weights_to_p) * TINY)
    size = power(weights_to_p.sum(axis=0), 1 / p)
    errors = rounding * size + 2 * reach * power(lost, 1 / p)
    error = np.repeat(errors.astype(np.float32), counts)
    share = np.float32(RELATIVE + len(weights_to_p) * RELATIVE_EACH)
    low, high = roots * (1 - share) - error, roots * (1 + share) + error
    if p.max() > LARGEST_EXPONENT:
        too_large = np.repeat(p > LARGEST_EXPONENT, counts)
        low[too_large], high[too_large] = 0.0, np.inf
    return low, high


def open_margins(p: Float64Array, weights_to_p: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return when a comparison of two estimated p-th powers is open: relative, absolute.

    It is open where their difference is at most the relative margin times their sum, plus the
    absolute margin. Weights are (m, groups); the margins are (groups,).

    The error of a distance by rounded differences is relative, at most `share`, for all but small
    distances, and absolute for these. The share makes the sum of both margins about least.
    """
    share = power(np.full(len(p), ROUNDING), p / (p + 1))
    relative = 2 * p * (RELATIVE + len(weights_to_p) * RELATIVE_EACH + share)
    small = power(ROUNDING / share, p)
    lost = len(weights_to_p) * TINY * power(np.full(len(p), 2.0), p)
    absolute = 2 * small * weights_to_p.sum(axis=0) + 4 * lost
    absolute = np.where(p > LARGEST_EXPONENT, np.inf, absolute)
    return relative.astype(np.float32), absolute.astype(np.float32)
