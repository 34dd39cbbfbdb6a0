"""Entities and values that lie side by side and belong together, of all lanes in one array.

A group has entities, such as the members of a cluster. A segment has values, such as one feature
of one group. One NumPy call serves all groups or all segments.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from pipeline.core.types import BoolArray, Float32Array, FloatArray, IntArray

#: Long arrays are worked on in batches that stay in the cache: about this many values of float64,
#: or twice as many of float32.
BATCH_SIZE = 65_536


@dataclass(frozen=True)
class Segments:
    """Values, shape (total,), in segments of `counts`, shape (segments,). No segment is empty."""

    values: FloatArray
    counts: IntArray

    @cached_property
    def starts(self) -> IntArray:
        """Index of the first value of each segment."""
        return np.cumsum(self.counts) - self.counts

    def spread(self, each: FloatArray) -> FloatArray:
        """Repeat one value per segment for each value of the segment."""
        return np.repeat(each, self.counts)

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up each segment of `values`, in an order that depends on its length alone."""
        return np.asarray(np.add.reduceat(values, self.starts))

    @cached_property
    def lows(self) -> FloatArray:
        """Smallest value of each segment."""
        return np.asarray(np.minimum.reduceat(self.values, self.starts))

    @cached_property
    def highs(self) -> FloatArray:
        """Largest value of each segment."""
        return np.asarray(np.maximum.reduceat(self.values, self.starts))

    def means(self) -> FloatArray:
        """Return the mean of each segment; that of a constant segment is exact."""
        means = self.sums(self.values) / self.counts.astype(self.values.dtype)
        return np.asarray(np.clip(means, self.lows, self.highs))

    def keep(self, chosen: BoolArray) -> Self:
        """Return the chosen segments."""
        if chosen.all():
            return self
        counts = self.counts[chosen]
        gaps = self.starts[chosen] - (np.cumsum(counts) - counts)
        places = np.repeat(gaps, counts)
        places += np.arange(len(places))
        return type(self)(self.values.take(places), counts)

    def in_float32(self, zero: FloatArray, unit: FloatArray) -> "Segments":
        """Return the values as multiples of each segment's unit from its zero, in float32."""
        parts: list[Float32Array] = []
        for some, batch in self.batches:
            offsets = batch.values - batch.spread(zero[some])
            offsets *= batch.spread(1 / unit[some])
            parts.append(offsets.astype("float32"))
        return Segments(np.concatenate(parts), self.counts)

    @property
    def batches(self) -> list[tuple[slice, Self]]:
        """Batches that stay in the cache: the indices of their segments, and these segments."""
        if self.values.nbytes <= BATCH_SIZE * 8:
            # Not cached: segments that refer to themselves would stay in memory until the garbage
            # collector finds the cycle.
            return [(slice(None), self)]
        return self._several_batches

    @cached_property
    def _several_batches(self) -> list[tuple[slice, Self]]:
        return [
            (segments, type(self)(self.values[values], self.counts[segments]))
            for segments, values in batches_of(self.counts, self.values.itemsize)
        ]


def batches_of(counts: IntArray, itemsize: int = 8) -> Iterator[tuple[slice, slice]]:
    """Divide segments of `counts` values into batches: which segments, and which values."""
    ends, most = np.cumsum(counts), BATCH_SIZE * 8 // itemsize
    first, start = 0, 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        yield slice(first, last), slice(start, int(ends[last - 1]))
        first, start = last, int(ends[last - 1])


@dataclass(frozen=True)
class Groups:
    """Entities as columns (m, total), in groups of `counts`, shape (groups,). No group is empty."""

    columns: FloatArray
    counts: IntArray

    @property
    def segments(self) -> Segments:
        """Every feature of every group as a segment, feature by feature."""
        return Segments(self.columns.ravel(), np.tile(self.counts, len(self.columns)))

    def keep(self, chosen: BoolArray) -> Self:
        """Return the chosen groups; groups that lie side by side are copied faster."""
        groups = np.flatnonzero(chosen)
        if len(groups) and groups[-1] - groups[0] + 1 == len(groups):
            before, end = self.counts[: groups[0]].sum(), self.counts[: groups[-1] + 1].sum()
            return type(self)(self.columns[:, before:end].copy(), self.counts[groups])
        columns = np.flatnonzero(np.repeat(chosen, self.counts))
        return type(self)(np.take(self.columns, columns, axis=1), self.counts[groups])
