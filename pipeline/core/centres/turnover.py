"""Where the minimum of a group's dispersion is likely to be after members joined or left.

The slope at the last minimum was 0. The members that joined or left have changed it by their own
terms, so one step of Newton's method from there needs no power of any other member.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pipeline.core.centres.types import Minima, Starts
from pipeline.core.minkowski import powers, spread_exponents
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array, FloatArray


class Turnover(NamedTuple):
    """The members that joined or left each group since its last search.

    Attributes
    ----------
    members
        These members, in groups.
    signs
        1.0 for a member that joined, -1.0 for one that left; (columns,).
    """

    members: Groups
    signs: FloatArray


def likely_starts(
    minima: Minima, p: Float64Array, turnover: Callable[[BoolArray], Turnover]
) -> Starts | None:
    """Return where the minima of groups probably are now, or None if nothing is known of any.

    `turnover` returns that of the chosen groups, those with known minima.
    """
    known = minima.known
    if not known.any():
        return None
    starts = follow(minima.keep(known), turnover(known), p[known])
    return starts if known.all() else starts.spread(known)


def follow(minima: Minima, turnover: Turnover, p: Float64Array) -> Starts:
    """Return where the minima probably are now, for exponents above 2."""
    segments, m = turnover.members.segments, len(minima.at)
    minima = Minima(*(part.astype(segments.values.dtype, copy=False) for part in minima))
    differences = segments.spread(minima.at.ravel())
    differences -= segments.values
    terms = np.empty_like(differences)
    exponents = spread_exponents(np.tile(p - 2, m), segments.counts, terms.dtype)
    powers(differences, exponents, out=terms)
    terms *= np.tile(turnover.signs, m)
    more = segments.sums(terms).reshape(m, -1)
    curvature = minima.curvature + (p - 1).astype(terms.dtype) * more
    terms *= differences
    slope = segments.sums(terms).reshape(m, -1)
    near = minima.at - slope / np.where(curvature > 0, curvature, np.inf)
    return Starts(near, Minima(minima.at, curvature))
