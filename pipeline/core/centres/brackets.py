"""The brackets of searches that have not ended."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from pipeline.core.segments import Segments
from pipeline.core.types import BoolArray, Float64Array, FloatArray, IntArray


@dataclass(frozen=True)
class Brackets:
    """Searches that go on, of shape (searches,) each.

    Attributes
    ----------
    number
        Place of the search among all searches.
    segments
        The values whose centre is searched for, one segment for each search.
    p
        Exponents.
    span
        Ranges of the segments.
    centre, end
        The ends of the bracket, which holds the root. The last trial was at `centre`.
    """

    number: IntArray
    segments: Segments
    p: Float64Array
    span: FloatArray
    centre: FloatArray
    end: FloatArray

    def keep(self, going: BoolArray) -> Self:
        """Return the searches that go on."""
        return type(self)(
            number=self.number[going],
            segments=self.segments.keep(going),
            p=self.p[going],
            span=self.span[going],
            centre=self.centre[going],
            end=self.end[going],
        )

    def share_of_span(self, share: float) -> FloatArray:
        """Return a share of each range, but no less than the precision can tell apart."""
        return np.asarray(max(share, 4 * float(np.finfo(self.span.dtype).eps)) * self.span)
