"""Wilcoxon's signed-rank test of paired differences."""

from math import erfc, sqrt

import numpy as np

from pipeline.core.types import Float64Array

#: Differences are rounded to this many decimals: two scores that differ by less are equal, and the
#: rounding of last bits decides neither ties nor signs.
DECIMALS = 12


def signed_rank_p_value(differences: Float64Array) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test.

    Parameters
    ----------
    differences : ndarray, shape (n,)
        The differences of pairs, all finite.

    Returns
    -------
    float
        By the normal approximation, corrected for ties, without correction for continuity. Pairs
        without a difference are left out; 1 if none is left. The approximation is rough for fewer
        than ten pairs.

    Examples
    --------
    >>> round(signed_rank_p_value(np.array([0.1, 0.2, -0.05, 0.3, 0.25, 0.0])), 4)
    0.0796
    """
    rounded = np.round(differences, DECIMALS)
    different = rounded[rounded != 0]
    count = len(different)
    if not count:
        return 1.0
    ranks, ties = _ranked(np.abs(different))
    positive = float(ranks[different > 0].sum())
    mean = count * (count + 1) / 4
    variance = count * (count + 1) * (2 * count + 1) / 24 - float((ties**3 - ties).sum()) / 48
    return erfc(abs(positive - mean) / sqrt(2 * variance))


def _ranked(sizes: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return the ranks from 1, equal sizes sharing their mean rank, and the lengths of ties."""
    _, group, ties = np.unique(sizes, return_inverse=True, return_counts=True)
    last = np.cumsum(ties)
    return (last - (ties - 1) / 2)[group], ties.astype(np.float64)
