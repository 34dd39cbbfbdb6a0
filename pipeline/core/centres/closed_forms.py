"""Centres that need no search: lone members, medians (p = 1) and means (p = 2)."""

import numpy as np

from pipeline.core.centres.dispersions import group_dispersions
from pipeline.core.centres.types import Centres, Minima, Starts
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array, FloatArray


def lone_members(groups: Groups) -> Centres:
    """Return the centres of groups of one member each: the members themselves."""
    centres = groups.columns.copy()
    return Centres(centres, np.zeros_like(centres), Minima.unknown(centres))


def medians(groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:  # noqa: ARG001
    """Return the medians, the centres at p = 1."""
    each = np.split(groups.columns, np.cumsum(groups.counts)[:-1], axis=1)
    return _about(np.stack([np.median(group, axis=1) for group in each], axis=1), groups, p)


def means(groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:  # noqa: ARG001
    """Return the means, the centres at p = 2."""
    return _about(groups.segments.means().reshape(-1, len(p)), groups, p)


def _about(centres: FloatArray, groups: Groups, p: Float64Array) -> Centres:
    return Centres(centres, group_dispersions(groups, centres, p), Minima.unknown(centres))
