"""Centres that need no search: lone members, medians (p = 1) and means (p = 2)."""

import numpy as np

from pipeline.core.centres.dispersions import group_dispersions
from pipeline.core.centres.types import Centres
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array


def lone_members(groups: Groups) -> Centres:
    """Return the centres of groups of one member each: the members themselves."""
    return Centres(groups.columns.copy(), np.zeros_like(groups.columns))


def medians(groups: Groups, p: Float64Array) -> Centres:
    """Return the medians, the centres at p = 1."""
    each = np.split(groups.columns, np.cumsum(groups.counts)[:-1], axis=1)
    centres = np.stack([np.median(group, axis=1) for group in each], axis=1)
    return Centres(centres, group_dispersions(groups, centres, p))


def means(groups: Groups, p: Float64Array) -> Centres:
    """Return the means, the centres at p = 2."""
    centres = groups.segments.means().reshape(-1, len(p))
    return Centres(centres, group_dispersions(groups, centres, p))
