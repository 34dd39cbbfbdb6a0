"""Exact centres: searches for the root of the slope, and where these searches start."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.guesses import Guess
from pipeline.core.centres.searches import HalvingSearch, Task
from pipeline.core.centres.stop_rules import StopRule
from pipeline.core.centres.types import Centres
from pipeline.core.segments import Groups, Segments
from pipeline.core.types import Float64Array, FloatArray


@dataclass(frozen=True)
class ExactSearch:
    """A way of finding centres: search for the roots, from a first guess on, until `stop`."""

    search: type[HalvingSearch]
    guess: Guess
    stop: StopRule

    def __call__(self, groups: Groups, p: Float64Array) -> Centres:
        """Return the centres of groups whose exponents suit the kind of search."""
        segments, exponents = groups.segments, np.tile(p, len(groups.columns))
        low, high = segments.lows, segments.highs
        start = np.clip(self.guess(segments, segments.means(), exponents), low, high)
        task = Task(segments, exponents, low, high, start)
        centres, dispersions = self.search(task, self.stop).solve()
        return Centres(centres.reshape(-1, len(p)), dispersions.reshape(-1, len(p)))


@dataclass(frozen=True)
class RoughSearch:
    """A guess for a float64 search: where a few steps in float32 end.

    With such a start, one evaluation in float64 is enough for most searches.
    """

    search: type[HalvingSearch]
    guess: Guess
    stop: StopRule
    most_steps: int

    def __call__(self, segments: Segments, means: FloatArray, p: Float64Array) -> FloatArray:
        """Search among the values in float32, in units of their range from their mean."""
        unit = np.maximum(segments.highs - segments.lows, np.finfo(means.dtype).tiny)
        low, high = (
            np.asarray((end - means) / unit, dtype="float32")
            for end in (segments.lows, segments.highs)
        )
        offsets = segments.in_float32(means, unit)
        start = np.clip(self.guess(offsets, np.zeros_like(low), p), low, high)
        search = self.search(Task(offsets, p, low, high, start), self.stop, self.most_steps)
        return np.asarray(means + unit * search.solve()[0])
