"""Minkowski powers and distances: the only module that raises data to a power.

``exp(p * log(x))`` takes less than half the time of ``x ** p``, and takes one exponent for every
lane as easily as one for all.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from pipeline.core.types import FloatArray, IntArray

#: Features are raised to powers together while they have about this many values.
FEATURE_BLOCK = 65_536


def zeros_have_powers() -> np.errstate:
    """Allow `powers` and `power` to raise zeros: log(0) is -inf, whose exponential is the 0 wanted.

    For whoever calls them many times: within them it would take longer than short arrays do. It
    silences every division by zero, so code that runs under it guards its own.
    """
    return np.errstate(divide="ignore")


def powers(differences: FloatArray, p: FloatArray, out: FloatArray) -> FloatArray:
    """Return ``|differences| ** p``, written to `out`; `p` is broadcast.

    `out` may be `differences` itself: a fresh array costs more than the arithmetic.
    """
    np.abs(differences, out=out)
    np.log(out, out=out)
    out *= p
    return np.exp(out, out=out)


def power(base: FloatArray, p: FloatArray) -> FloatArray:
    """Return ``base ** p`` of non-negative numbers, as a new array.

    Not by `np.power`: for some exponents it takes another way, with other last bits, where it sees
    that one exponent serves all elements; results would depend on the number of lanes.
    """
    return np.asarray(np.exp(p * np.log(base)))


def norms(values: FloatArray, p: FloatArray) -> FloatArray:
    """Return the p-norms of non-negative values over the first axis, however large p is."""
    largest = values.max(axis=0)
    unit = np.where(largest > 0, largest, 1.0)
    return np.asarray(largest * power(power(values / unit, p).sum(axis=0), 1 / p))


def spread_exponents(p: FloatArray, counts: IntArray, dtype: np.dtype[Any]) -> FloatArray:
    """Repeat one exponent per group for each of its members, unless one will do for all."""
    if (p == p[0]).all():  # which is faster, and gives the same bits
        return p[:1].astype(dtype)
    return np.repeat(p.astype(dtype), counts)


def weighted_powers(
    X: FloatArray,
    columns: IntArray | slice,
    centroids: FloatArray,
    weights_to_p: FloatArray,
    p: FloatArray,
    counts: IntArray,
    minus: FloatArray | None = None,
) -> FloatArray:
    """Return ``sum_v weights_to_p_v * |x_v - centroid_v| ** p`` for some columns x of `X` (m, ...).

    They are in groups of `counts` columns that share a centroid and weights, (m, groups), and an
    exponent. Powers that are given as `minus` are subtracted from theirs. A plain sum over the
    features in their order, not a matrix product: equal entities must get equal sums, bit for bit,
    because ties decide.
    """
    total = np.zeros(counts.sum(), dtype=X.dtype)
    exponents = spread_exponents(p, counts, X.dtype)
    for some in _feature_blocks(len(X), len(total)):
        terms = np.repeat(centroids[some], counts, axis=1)
        terms -= _columns(X[some], columns)
        powers(terms, exponents, out=terms)
        if minus is not None:
            terms -= minus[some]
        terms *= np.repeat(weights_to_p[some], counts, axis=1)
        for feature in terms:
            total += feature
    return total


def _columns(X: FloatArray, columns: IntArray | slice) -> FloatArray:
    if isinstance(columns, slice):
        return X[:, columns]
    return X.take(columns, axis=1, mode="wrap")  # faster than to check every index


def weighted_sum(
    X: FloatArray, columns: slice, weights_to_p: FloatArray, counts: IntArray
) -> FloatArray:
    """Return ``sum_v weights_to_p_v * x_v`` for some columns x of `X`; as for powers otherwise."""
    total = np.zeros(counts.sum(), dtype=X.dtype)
    for some in _feature_blocks(len(X), len(total)):
        terms = np.repeat(weights_to_p[some], counts, axis=1)
        terms *= X[some, columns]
        for feature in terms:
            total += feature
    return total


def _feature_blocks(m: int, width: int) -> Iterator[slice]:
    """Cut m features of `width` values each into blocks that stay in the cache."""
    together = max(1, FEATURE_BLOCK // max(1, width))
    return (slice(first, first + together) for first in range(0, m, together))
