"""Arrays as text that a page unpacks: bytes of one rank side by side, deflated, in base64."""

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: A score is kept in steps of half a thousandth, rounded up: enough to tell which thousandth is
#: nearest, and which thousandths it lies above.
STEPS = 2000
#: The code of a score of 0. Scores are at least -1, and code 0 is for cells without result.
ZERO = STEPS + 1
#: What the product with `STEPS` may be off by rounding.
_SLACK = 1e-9


def packed(values: NDArray[Any]) -> str:
    """Return an array's bytes, little-endian and compressed, as text.

    Examples
    --------
    >>> len(packed(np.zeros(10_000, dtype=np.uint32))) < 100
    True
    """
    little = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("<"))
    # High bytes hardly vary, low ones are noise: apart they are compressed better
    ranks = little.reshape(-1, 1).view(np.uint8).T
    return b64encode(zlib.compress(ranks.tobytes())).decode()


def score_codes(scores: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return scores of -1 to 1 as whole numbers of half thousandths; 0 where there is none.

    Examples
    --------
    >>> (score_codes(np.array([0.0, 0.1234, 0.1236, np.nan])) - ZERO).astype(np.int32).tolist()
    [0, 247, 248, -2001]
    """
    codes = np.ceil(STEPS * scores - _SLACK) + ZERO
    return np.where(np.isnan(codes), 0, codes).astype(np.uint32)


def count_codes(counts: NDArray[np.float64]) -> NDArray[np.uint32]:
    """Return counts as they are, and 0 where there is none.

    Examples
    --------
    >>> count_codes(np.array([3.0, np.nan])).tolist()
    [3, 0]
    """
    return np.nan_to_num(counts).astype(np.uint32)
