"""Which exponent and which precision lead to which way of finding the centres.

=============  ================================  ========================  ==================
exponent       exact, float64                    exact, float32            fixed-step
=============  ================================  ========================  ==================
p = 1          median                            median                    median
1 < p < 1.06   halving, from the mean            halving, from the mean    walk from the mean
1.06 <= p < 2  gap search, from a rough search   gap search, from a guess  where a walk ends
p = 2          mean                              mean                      mean
p > 2          Newton's, from a rough search     Newton's, from a guess    where a walk ends
=============  ================================  ========================  ==================

A rough search takes a few steps in float32, from a guess. A guess needs no power. Newton's searches
need neither where a start is given: `turnover` computes starts. The precision also decides when an
exact search stops: in float64 its centre is good to 1e-7 of the feature's range, in float32 to
1e-3. Where a walk from the mean ends is computed from the exact centre in float64, and walked in
float32. If no group has more than one member, the members are the centres.
"""

from collections.abc import Iterable

import numpy as np

from pipeline.core.centres.closed_forms import lone_members, means, medians
from pipeline.core.centres.exact import ExactSearch
from pipeline.core.centres.fixed_step import FixedStep
from pipeline.core.centres.searches import HALVED_ENOUGH, GapSearch, HalvingSearch, NewtonSearch
from pipeline.core.centres.start_rules import (
    RoughSearch,
    guess_above_2,
    guess_below_2,
    guess_mean,
)
from pipeline.core.centres.stop_rules import (
    GapStopInFloat32,
    GapStopInFloat64,
    NewtonStopInFloat64,
    SmallStep,
)
from pipeline.core.centres.types import CentreMethod, Centres, Minima, Starts
from pipeline.core.centres.walk import walk_from_mean
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array

#: Below this exponent the slope is nearly a staircase, and only halving the bracket is safe.
NEXT_TO_1 = 1.06

HALVING = ExactSearch(HalvingSearch, guess_mean, HALVED_ENOUGH)

#: What is left after a step of Newton's method is about the square of the step.
NEWTON_IN_FLOAT32 = ExactSearch(NewtonSearch, guess_above_2, SmallStep(2e-3))
NEWTON_IN_FLOAT64 = ExactSearch(
    NewtonSearch,
    RoughSearch(NewtonSearch, guess_above_2, SmallStep(2e-3), most_steps=1),
    NewtonStopInFloat64(),
    few=40,
)

GAP_IN_FLOAT32 = ExactSearch(GapSearch, guess_below_2, GapStopInFloat32())
GAP_IN_FLOAT64 = ExactSearch(
    GapSearch,
    RoughSearch(GapSearch, guess_below_2, SmallStep(1e-4), most_steps=6),
    GapStopInFloat64(),
)

FIXED_BELOW_2, FIXED_ABOVE_2 = FixedStep(GAP_IN_FLOAT64), FixedStep(NEWTON_IN_FLOAT64)


def exact_centres(groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
    """Return centres that are good to 1e-7 of each feature's range, to 1e-3 in float32."""
    in_float32 = groups.columns.dtype == np.float32
    return _centres(
        groups,
        p,
        starts,
        [
            (p == 1, medians),
            ((p > 1) & (p < NEXT_TO_1), HALVING),
            ((p >= NEXT_TO_1) & (p < 2), GAP_IN_FLOAT32 if in_float32 else GAP_IN_FLOAT64),
            (p == 2, means),
            (p > 2, NEWTON_IN_FLOAT32 if in_float32 else NEWTON_IN_FLOAT64),
        ],
    )


def fixed_step_centres(groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
    """Return centres as the paper's authors found them, in either precision."""
    in_float32 = groups.columns.dtype == np.float32
    return _centres(
        groups,
        p,
        starts,
        [
            (p == 1, medians),
            ((p > 1) & (p < NEXT_TO_1), walk_from_mean),
            ((p >= NEXT_TO_1) & (p < 2), walk_from_mean if in_float32 else FIXED_BELOW_2),
            (p == 2, means),
            (p > 2, walk_from_mean if in_float32 else FIXED_ABOVE_2),
        ],
    )


def _centres(
    groups: Groups,
    p: Float64Array,
    starts: Starts | None,
    ways: Iterable[tuple[BoolArray, CentreMethod]],
) -> Centres:
    """Find the centres of all groups, those of the chosen groups in each of the `ways`."""
    if (groups.counts == 1).all():
        return lone_members(groups)
    shape = (len(groups.columns), len(p))
    centres, dispersions, *minima = np.empty((4, *shape), dtype=groups.columns.dtype)
    found = Centres(centres, dispersions, Minima(*minima))
    for chosen, find in ways:
        if chosen.all():
            return find(groups, p, starts)
        if chosen.any():
            some = None if starts is None else starts.keep(chosen)
            found.put(chosen, find(groups.keep(chosen), p[chosen], some))
    return found
