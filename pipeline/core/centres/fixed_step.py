"""Fixed-step centres: where the walk of the paper's authors ends, computed instead of walked.

The walk (`walk.py`) evaluates every feature of a group 70 to 120 times. But the dispersion is a
convex function of the centre, so almost every decision of the walk follows from where its minimum
is: a step towards the minimum that does not pass it is taken, and a step away from it is not. Only
steps that pass the minimum have to be evaluated, and of these only the two next to the turn. The
result is equal to that of the walk, bit for bit, for every decision that is evaluated is evaluated
with the same operations, and the others are clear by far more than rounding.
"""

from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.paths import Paths
from pipeline.core.centres.types import CentreMethod, Centres, Starts
from pipeline.core.centres.walk import STEPS, STEPS_UNTIL_SHORT, walk_from_mean
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array

#: Groups with a wider feature walk: rounding could decide more than the last of their steps.
WIDEST = 10.0


@dataclass(frozen=True)
class FixedStep:
    """A way of finding centres: where the walk ends, given where the minimum is."""

    find_minimum: CentreMethod

    def __call__(self, groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
        """Return the centres of groups whose exponents suit `find_minimum`."""
        segments = groups.segments
        widest = (segments.highs - segments.lows).reshape(-1, len(p)).max(axis=0)
        if widest.max() > WIDEST:
            return walk_from_mean(groups, p)
        minimum = self.find_minimum(groups, p, starts)
        paths = Paths(segments, np.tile(p, len(groups.columns)), minimum)
        paths.stride()
        paths.settle(most_shrinks=STEPS_UNTIL_SHORT)
        # All features of a group walk until the steps of all of them are short.
        rounds = STEPS_UNTIL_SHORT + paths.taken.reshape(-1, len(p)).max(axis=0)
        paths.settle(most_shrinks=len(STEPS), rounds=np.tile(rounds, len(groups.columns)))
        position, dispersions = (
            part.reshape(-1, len(p)) for part in (paths.position, paths.dispersions)
        )
        return Centres(position, dispersions, minimum.minima)
