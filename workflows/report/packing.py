"""Pack arrays as text: bytes grouped by significance, compressed, in base64."""

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A score is stored in steps of half a thousandth, rounded up. That is enough to round it to three
#: decimals, and to compare it with any number of three decimals.
STEPS = 2000
#: The code of a score of 0. Scores are at least -1; code 0 stands for a cell without a result.
ZERO = STEPS + 1
#: The largest rounding error of the product with `STEPS`.
_SLACK = 1e-9


def packed(values: NDArray[Any]) -> str:
    """Return the little-endian bytes of an array as compressed text.

    Examples
    --------
    >>> len(packed(np.zeros(10_000, dtype=np.uint32))) < 100
    True
    """
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    # High bytes hardly vary and low bytes are noise, so they compress better when separated.
    ranks = little.reshape(-1, 1).view(np.uint8).T
    return b64encode(zlib.compress(ranks.tobytes())).decode()


def score_codes(scores: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return scores from -1 to 1 as whole numbers of half thousandths; 0 without a score.

    Examples
    --------
    >>> (score_codes(np.array([0.0, 0.1234, 0.1236, np.nan])) - ZERO).astype(np.int32).tolist()
    [0, 247, 248, -2001]
    """
    codes = np.ceil(STEPS * scores - _SLACK) + ZERO
    return np.where(np.isnan(codes), 0, codes).astype(np.uint32)


def count_codes(counts: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return counts unchanged, and 0 without a count.

    Examples
    --------
    >>> count_codes(np.array([3.0, np.nan])).tolist()
    [3, 0]
    """
    return np.nan_to_num(counts).astype(np.uint32)
