"""Exact centres: a start rule, a kind of search and a stop rule find the root of the slope."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.searches import Search, Task
from pipeline.core.centres.start_rules import StartRule
from pipeline.core.centres.stop_rules import StopRule
from pipeline.core.centres.types import Centres, Minima, Starts
from pipeline.core.segments import Groups, Segments
from pipeline.core.types import Float64Array


@dataclass(frozen=True)
class ExactSearch:
    """A way of finding centres: search for the roots, from `start` on, until `stop`."""

    search: type[Search]
    start: StartRule
    stop: StopRule

    def __call__(self, groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
        """Return the centres of groups whose exponents suit the kind of search."""
        segments, exponents = groups.segments, np.tile(p, len(groups.columns))
        search = self.search(self._task(segments, exponents, starts), self.stop)
        centres, dispersions, at, curvature = (
            part.reshape(-1, len(p)) for part in (*search.solve(), *search.minima())
        )
        return Centres(centres, dispersions, Minima(at, curvature))

    def _task(self, segments: Segments, p: Float64Array, starts: Starts | None) -> Task:
        low, high = segments.lows, segments.highs
        if starts is None or not starts.known.known.any():
            first = np.clip(self.start(segments, segments.means(), p), low, high)
            return Task(segments, p, low, high, first)
        first, at, curvature = (part.ravel() for part in (starts.near, *starts.known))
        inside = (first >= low) & (first <= high)
        if not inside.all():  # so few that a better start than the mean would take longer
            first = np.where(inside, first, segments.means())
            at, curvature = np.where(inside, at, np.inf), np.where(inside, curvature, 0.0)
        return Task(segments, p, low, high, first, Minima(at, curvature))
