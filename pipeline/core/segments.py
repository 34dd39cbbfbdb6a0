"""Entities and values that lie side by side and belong together, of all lanes in one array.

Groups are entities, such as the members of a cluster; runs are values, such as one feature of one
group. One NumPy call serves them all.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from pipeline.core.types import BoolArray, FloatArray, IntArray

#: Long arrays are worked on in blocks of about this many values of float64, or twice as many of
#: float32, which stay in the cache.
BLOCK = 65_536


@dataclass(frozen=True)
class Runs:
    """Values in runs of `counts`; no run is empty."""

    values: FloatArray
    counts: IntArray

    @cached_property
    def starts(self) -> IntArray:
        """First value of each run."""
        return np.cumsum(self.counts) - self.counts

    def spread(self, each: FloatArray) -> FloatArray:
        """Repeat one value per run for each value of the run."""
        return np.repeat(each, self.counts)

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up each run, in an order that depends on its length alone."""
        return np.asarray(np.add.reduceat(values, self.starts))

    @cached_property
    def lows(self) -> FloatArray:
        """Least value of each run."""
        return np.asarray(np.minimum.reduceat(self.values, self.starts))

    @cached_property
    def highs(self) -> FloatArray:
        """Greatest value of each run."""
        return np.asarray(np.maximum.reduceat(self.values, self.starts))

    def means(self) -> FloatArray:
        """Return the means; rounding must not move them off the value of a constant run."""
        means = self.sums(self.values) / self.counts.astype(self.values.dtype)
        return np.asarray(np.clip(means, self.lows, self.highs))

    def only(self, chosen: BoolArray) -> Self:
        """Return the chosen runs."""
        if chosen.all():
            return self
        counts = self.counts[chosen]
        gaps = self.starts[chosen] - (np.cumsum(counts) - counts)
        places = np.repeat(gaps, counts)
        places += np.arange(len(places))
        return type(self)(self.values.take(places), counts)

    def in_units(self, zero: FloatArray, unit: FloatArray) -> "Runs":
        """Return the values in float32, as multiples of each run's unit from its zero."""
        parts = []
        for some, block in self.blocks:
            offsets = block.values - block.spread(zero[some])
            offsets *= block.spread(1 / unit[some])
            parts.append(offsets.astype("float32"))
        return Runs(np.concatenate(parts), self.counts)

    @property
    def blocks(self) -> list[tuple[slice, Self]]:
        """Pieces that stay in the cache: which runs, and the runs themselves."""
        if self.values.nbytes <= BLOCK * 8:
            # Not cached: runs that hold themselves would keep their memory until it is searched.
            return [(slice(None), self)]
        return self._pieces

    @cached_property
    def _pieces(self) -> list[tuple[slice, Self]]:
        return [
            (runs, type(self)(self.values[values], self.counts[runs]))
            for runs, values in blocks_of(self.counts, self.values.itemsize)
        ]


def blocks_of(counts: IntArray, itemsize: int = 8) -> Iterator[tuple[slice, slice]]:
    """Group runs of `counts` values into blocks: which runs, and which values."""
    ends, most = np.cumsum(counts), BLOCK * 8 // itemsize
    first, start = 0, 0
    while first < len(counts):
        last = max(first + 1, int(np.searchsorted(ends, start + most, side="right")))
        yield slice(first, last), slice(start, int(ends[last - 1]))
        first, start = last, int(ends[last - 1])


class Centres(NamedTuple):
    """Centres and dispersions of groups, both of shape (m, groups)."""

    centres: FloatArray
    dispersions: FloatArray


@dataclass(frozen=True)
class Groups:
    """Entities, as columns (m, total), in groups of `counts`; no group is empty."""

    columns: FloatArray
    counts: IntArray

    @property
    def runs(self) -> Runs:
        """Every feature of every group as a run, feature by feature."""
        return Runs(self.columns.ravel(), np.tile(self.counts, len(self.columns)))

    def only(self, chosen: BoolArray) -> Self:
        """Return the chosen groups; those that lie side by side are copied fast."""
        groups = np.flatnonzero(chosen)
        if len(groups) and groups[-1] - groups[0] + 1 == len(groups):
            before, end = self.counts[: groups[0]].sum(), self.counts[: groups[-1] + 1].sum()
            return type(self)(self.columns[:, before:end].copy(), self.counts[groups])
        columns = np.flatnonzero(np.repeat(chosen, self.counts))
        return type(self)(np.take(self.columns, columns, axis=1), self.counts[groups])


#: Finds the centres of groups that have an exponent each.
CentreMethod = Callable[[Groups, FloatArray], Centres]


def centres_by_kind(
    groups: Groups, p: FloatArray, kinds: Iterable[tuple[BoolArray, CentreMethod]]
) -> Centres:
    """Find the centres of each kind of groups by its own method; every group is of one kind."""
    shape = (len(groups.columns), len(p))
    found = Centres(*np.empty((2, *shape), dtype=groups.columns.dtype))
    for chosen, find in kinds:
        if chosen.all():
            return find(groups, p)
        if chosen.any():
            part = find(groups.only(chosen), p[chosen])
            found.centres[:, chosen], found.dispersions[:, chosen] = part
    return found
