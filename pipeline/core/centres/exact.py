"""Exact centres: a start rule, a kind of search and a stop rule find the root of the slope."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.searches import Search, Task
from pipeline.core.centres.start_rules import StartRule
from pipeline.core.centres.stop_rules import StopRule
from pipeline.core.centres.types import Centres
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array


@dataclass(frozen=True)
class ExactSearch:
    """A way of finding centres: search for the roots, from `start` on, until `stop`."""

    search: type[Search]
    start: StartRule
    stop: StopRule

    def __call__(self, groups: Groups, p: Float64Array) -> Centres:
        """Return the centres of groups whose exponents suit the kind of search."""
        segments, exponents = groups.segments, np.tile(p, len(groups.columns))
        low, high = segments.lows, segments.highs
        first = np.clip(self.start(segments, segments.means(), exponents), low, high)
        task = Task(segments, exponents, low, high, first)
        centres, dispersions = self.search(task, self.stop).solve()
        return Centres(centres.reshape(-1, len(p)), dispersions.reshape(-1, len(p)))
