"""Distances in float32, and how wrong they can be.

Almost every comparison of two distances is clear by far more than float32 is wrong, and float32
takes half the time of float64, or a quarter where the CPU is old. So distances are first estimated
in float32; only what stays open is computed in the precision of the run. No result depends on an
estimate.

float64 data are taken in units of their largest size, so that differences are at most 2, and wrong
by `ROUNDING` at most. By the triangle inequality a distance ``||w (x - z)||_p`` is then wrong by
``ROUNDING ||w||_p`` and a small share of itself; what is too small for float32 vanishes. float32
data are taken as they are, and so are centroids, which are float32 numbers then: their differences
are wrong by a small share only.
"""

import numpy as np

from pipeline.core.minkowski import power, spread_exponents
from pipeline.core.types import FloatArray, IntArray

TINY = float(np.finfo(np.float32).tiny)
#: Error of the difference of two values that were rounded before: twice what it can be.
ROUNDING = 4 * float(np.finfo(np.float32).eps)
#: Relative error of exp(p * log(x)), with a wide margin, and what the sum over features adds.
RELATIVE, RELATIVE_EACH = 4e-5, float(np.finfo(np.float32).eps)
#: Share of a distance below which its absolute error counts as relative too, in `open_margins`.
SMALL_SHARE = 3e-4
#: Rounding of one operation, with a margin: what bounds lose as they follow the clusters.
STEP = 1e-6
#: For larger exponents powers come near the largest number: estimates settle nothing.
LARGEST_EXPONENT, LARGEST_POWER = 100.0, 1e35


def scales(X: FloatArray) -> FloatArray:
    """Return the units of the lanes of `X` (m, lanes, n): their largest sizes; 1 for float32."""
    if X.dtype == np.float32:
        return np.ones(X.shape[1])
    largest = largest_sizes(X)
    return np.where(largest > 0, largest, 1.0)


def largest_sizes(X: FloatArray) -> FloatArray:
    """Return the largest size of a value in each lane of `X` (m, lanes, n)."""
    return np.asarray(np.abs(X).max(axis=(0, 2)), dtype=np.float64)


def in_float32(X: FloatArray, scale: FloatArray) -> FloatArray:
    """Return `X` in units of `scale`, which is `X` itself if that is float32."""
    return X if X.dtype == np.float32 else (X / scale).astype(np.float32)


def powers_in_float32(to_p: FloatArray, scale: FloatArray, p: FloatArray) -> FloatArray:
    """Return p-th powers of what is in units of `scale`, likewise.

    Some may be too large, or no number where those of the scale are: they settle nothing.
    """
    if to_p.dtype == np.float32:
        return to_p
    with np.errstate(over="ignore", invalid="ignore"):
        return np.minimum(to_p / power(scale, p), LARGEST_POWER).astype(np.float32)


def rough_exponents(p: FloatArray) -> FloatArray:
    """Return exponents for estimates, none so large that powers overflow."""
    return np.minimum(p, LARGEST_EXPONENT)


def bounds(
    to_p: FloatArray,
    p: FloatArray,
    weights_to_p: FloatArray,
    counts: IntArray,
    reach: FloatArray,
    rounding: float,
) -> tuple[FloatArray, FloatArray]:
    """Return lower and upper bounds of distances from their estimated p-th powers.

    The powers are in groups of `counts` that share an exponent and weights, (m, groups). They are
    of differences up to twice the group's `reach`, at least 1, that were wrong by up to `rounding`.
    """
    roots = power(to_p, spread_exponents(1 / p, counts, to_p.dtype))
    lost = np.full(len(p), len(weights_to_p) * TINY)
    size = power(weights_to_p.sum(axis=0), 1 / p)
    errors: FloatArray = rounding * size + 2 * reach * power(lost, 1 / p)
    error = np.repeat(errors.astype(np.float32), counts)
    share = np.float32(RELATIVE + len(weights_to_p) * RELATIVE_EACH)
    low, high = roots * (1 - share) - error, roots * (1 + share) + error
    if p.max() > LARGEST_EXPONENT:
        too_large = np.repeat(p > LARGEST_EXPONENT, counts)
        low[too_large], high[too_large] = 0.0, np.inf
    return low, high


def open_margins(p: FloatArray, weights_to_p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return when a comparison of two estimated p-th powers is open: relative, absolute.

    It is open where their difference is no more than the relative margin times their sum, plus the
    absolute margin. Weights are (m, groups); the margins are one a group.
    """
    relative = 2 * p * (RELATIVE + len(weights_to_p) * RELATIVE_EACH + SMALL_SHARE)
    small = power(np.full(len(p), ROUNDING / SMALL_SHARE), p)
    lost = len(weights_to_p) * TINY * power(np.full(len(p), 2.0), p)
    absolute = 2 * small * weights_to_p.sum(axis=0) + 4 * lost
    absolute = np.where(p > LARGEST_EXPONENT, np.inf, absolute)
    return relative.astype(np.float32), absolute.astype(np.float32)
