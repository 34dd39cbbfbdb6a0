"""Sums of x ln x over counts, of which entropies and mutual informations consist."""

import numpy as np

from pipeline.core.exact_sums import sum_exactly
from pipeline.core.types import Float64Array, IntArray


class EntropySums:
    """Sums of ``x ln x`` over counts that add up to `n`, with the same bits in any order.

    The entropy of `n` entities in groups is ``(n ln n - sum of x ln x) / n``. Equal partitions have
    equal sums, whatever the names of their groups are.

    Examples
    --------
    >>> sums = EntropySums(4)
    >>> counts = np.array([[2, 2, 0], [4, 0, 0]])
    >>> ((sums.largest - sums(counts)) / 4).round(4).tolist()
    [0.6931, 0.0]
    """

    def __init__(self, n: int) -> None:
        counts = np.arange(n + 1.0)
        self._terms: Float64Array = counts * np.log(np.maximum(counts, 1))
        self.largest = float(self._terms[n])  # of all entities in one group

    def __call__(self, counts: IntArray, partitions: int = 1) -> Float64Array:
        """Return the sums over the last axis, which has the counts of so many partitions."""
        return sum_exactly(self._terms[counts], partitions * self.largest)
