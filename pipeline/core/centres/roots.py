"""Exact Minkowski centres, as roots of the slope of the summed powers.

Searches start from a guess that needs no power. A float64 run first searches in float32 for where
to start, so that one evaluation in float64 is enough for most.
"""

from functools import partial

import numpy as np

from pipeline.core.centres.searches import GapSearch, NewtonSearch, Search
from pipeline.core.segments import Centres, Groups, Runs, centres_by_kind
from pipeline.core.types import FloatArray

#: Below this exponent the bracket is halved in every step.
ALL_STEPS = 1.06


def root_of_slope(groups: Groups, p: FloatArray) -> Centres:
    """Find the centres of groups with exponents other than 1 and 2."""
    kinds = [
        (p < ALL_STEPS, Search),
        ((p >= ALL_STEPS) & (p < 2), GapSearch),
        (p > 2, NewtonSearch),
    ]
    return centres_by_kind(
        groups, p, [(chosen, partial(_search_groups, search)) for chosen, search in kinds]
    )


def _search_groups(search: type[Search], groups: Groups, p: FloatArray) -> Centres:
    """Search for the centres of groups that are all of one kind."""
    runs, exponents = groups.runs, np.tile(p, len(groups.columns))
    low, high, means = runs.lows, runs.highs, runs.means()
    if means.dtype == np.float32 or not search.rough_steps:
        start = np.clip(search.guess(runs, means, exponents), low, high)
    else:
        start = _rough_root(search, runs, exponents, low, high, means)
    centres, dispersions = search(runs, exponents, low, high, start).run()
    return Centres(centres.reshape(-1, len(p)), dispersions.reshape(-1, len(p)))


def _rough_root(
    search: type[Search],
    runs: Runs,
    p: FloatArray,
    low: FloatArray,
    high: FloatArray,
    means: FloatArray,
) -> FloatArray:
    """Return where a search in float32 ends, which is in units of the range about the mean."""
    unit = np.maximum(high - low, np.finfo(means.dtype).tiny)
    down, up = (np.asarray((end - means) / unit, dtype="float32") for end in (low, high))
    offsets = runs.in_units(means, unit)
    start = np.clip(search.guess(offsets, np.zeros_like(up), p), down, up)
    rough = search(offsets, p, down, up, start, rough=True)
    return np.asarray(np.clip(means + unit * rough.run()[0], low, high))
