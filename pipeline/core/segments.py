"""Segments: runs of columns that lie side by side, such as the members of each cluster.

All runs of imwk-means ("lanes") share one array of shape (m, columns), features in rows, so that
one NumPy call serves them all. A segment is a run of columns that belong together.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from pipeline.core.validation import FloatArray, IntArray

BoolArray = NDArray[np.bool_]


class Centres(NamedTuple):
    """Centres and dispersions of segments, both of shape (m, segments)."""

    centres: FloatArray
    dispersions: FloatArray


@dataclass(frozen=True)
class Segments:
    """Columns (m, total) in runs of `counts` columns; no run is empty."""

    columns: FloatArray
    counts: IntArray

    @cached_property
    def starts(self) -> IntArray:
        """First column of each segment."""
        return np.cumsum(self.counts) - self.counts

    def spread(self, values: FloatArray) -> FloatArray:
        """Repeat one value per segment (last axis) for each of its columns."""
        return np.repeat(values, self.counts, axis=-1)

    def sums(self, columns: FloatArray) -> FloatArray:
        """Add up each segment's columns, in an order that depends on its length alone."""
        return np.asarray(np.add.reduceat(columns, self.starts, axis=-1))

    def lows(self) -> FloatArray:
        """Return the least value of each feature in each segment."""
        return np.asarray(np.minimum.reduceat(self.columns, self.starts, axis=-1))

    def highs(self) -> FloatArray:
        """Return the greatest value of each feature in each segment."""
        return np.asarray(np.maximum.reduceat(self.columns, self.starts, axis=-1))

    def means(self) -> FloatArray:
        """Return the means; rounding must not move them off the value of a constant feature."""
        means = self.sums(self.columns) / self.counts.astype(self.columns.dtype)
        return np.asarray(np.clip(means, self.lows(), self.highs()))

    def neighbours(self, inverse: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the smallest positive and the smallest negative difference, both as distances.

        Takes inverse differences. Where there is none (a constant feature), 1 will do.
        """
        above = np.maximum.reduceat(inverse, self.starts, axis=-1)
        below = -np.minimum.reduceat(inverse, self.starts, axis=-1)
        return 1 / np.where(above > 0, above, 1.0), 1 / np.where(below > 0, below, 1.0)

    def only(self, chosen: BoolArray) -> Self:
        """Return the chosen segments."""
        if chosen.all():
            return self
        columns = np.flatnonzero(np.repeat(chosen, self.counts))
        return type(self)(np.take(self.columns, columns, axis=1), self.counts[chosen])


#: Finds the centres of segments that have an exponent each.
CentreMethod = Callable[[Segments, FloatArray], Centres]


def centres_by_kind(
    segments: Segments, p: FloatArray, kinds: Iterable[tuple[BoolArray, CentreMethod]]
) -> Centres:
    """Find the centres of each kind of segments by its own method; every segment is of one kind."""
    shape = (len(segments.columns), len(p))
    found = Centres(*np.empty((2, *shape), dtype=segments.columns.dtype))
    for chosen, find in kinds:
        if chosen.any():
            part = find(segments.only(chosen), p[chosen])
            found.centres[:, chosen] = part.centres
            found.dispersions[:, chosen] = part.dispersions
    return found
