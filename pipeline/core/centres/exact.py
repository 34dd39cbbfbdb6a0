"""Exact centres: a start rule, a kind of search and a stop rule find the root of the slope."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.searches import Search, Task
from pipeline.core.centres.start_rules import StartRule
from pipeline.core.centres.stop_rules import StopRule
from pipeline.core.centres.types import Centres, Minima, Starts
from pipeline.core.segments import Groups, Segments
from pipeline.core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class ExactSearch:
    """A way of finding centres: search for the roots, from `start` on, until `stop`.

    Groups of at most `few` members start at the mean, where a better start would take longer.
    """

    search: type[Search]
    start: StartRule
    stop: StopRule
    few: int = 0

    def __call__(self, groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
        """Return the centres of groups whose exponents suit the kind of search."""
        segments, exponents = groups.segments, np.tile(p, len(groups.columns))
        search = self.search(self._task(segments, exponents, starts), self.stop)
        centres, dispersions, at, curvature = (
            part.reshape(-1, len(p)) for part in (*search.solve(), *search.minima())
        )
        # Groups of one member each are not searched, so none of them may have a minimum.
        at = np.where(groups.counts == 1, np.nan, at)
        return Centres(centres, dispersions, Minima(at, curvature))

    def _task(self, segments: Segments, p: Float64Array, starts: Starts | None) -> Task:
        """Return what to search for. Where a search starts must depend on its own group alone."""
        low, high = segments.lows, segments.highs
        if starts is None:
            return Task(segments, p, low, high, self._own_starts(segments, p))
        first, at, curvature = (
            part.ravel().astype(low.dtype, copy=False) for part in (starts.near, *starts.known)
        )
        inside = (first >= low) & (first <= high)
        if not inside.all():
            first, at = first.copy(), np.where(inside, at, np.inf)
            first[~inside] = self._own_starts(segments.keep(~inside), p[~inside])
            curvature = np.where(inside, curvature, 0.0)
        return Task(segments, p, low, high, first, Minima(at, curvature))

    def _own_starts(self, segments: Segments, p: Float64Array) -> FloatArray:
        """Return starts for segments of which nothing is known."""
        starts, many = segments.means(), segments.counts > self.few
        if many.any():
            some = segments.keep(many)
            starts[many] = np.clip(self.start(some, starts[many], p[many]), some.lows, some.highs)
        return starts
