"""Sums whose bits do not depend on the order in which numbers are added.

Numbers are rounded to multiples of a small unit, a power of 2. Sums of whole numbers are exact as
long as they fit. So neither the order in which a matrix product adds, nor what is scored together,
nor the names of clusters change any bit.
"""

import numpy as np

from pipeline.core.types import Float64Array

#: Sums of whole numbers up to this power of 2 are exact in float64, and in int64.
FLOAT_BITS, INTEGER_BITS = 52, 60


def unit_for(total: float | Float64Array, bits: int = FLOAT_BITS) -> Float64Array:
    """Return the unit in which numbers whose sizes add up to `total` are below ``2**bits``.

    Examples
    --------
    >>> float(unit_for(3.0)) == 2.0**-50
    True
    """
    return np.asarray(np.ldexp(1.0, np.frexp(total)[1] - bits), np.float64)


def sum_exactly(values: Float64Array, total: float) -> Float64Array:
    """Add up the last axis, where the sizes of the numbers add up to at most `total`.

    A number is wrong by at most ``2**-60`` of `total`, far less than rounding a sum in float64.

    Examples
    --------
    >>> there = np.array([0.1, 0.2, 0.3])
    >>> back = there[::-1]
    >>> bool(there.sum() == back.sum()), bool(sum_exactly(there, 1) == sum_exactly(back, 1))
    (False, True)
    """
    unit = unit_for(total, INTEGER_BITS)
    whole = np.rint(values / unit).astype(np.int64).sum(axis=-1)
    return np.asarray(whole * unit, np.float64)
