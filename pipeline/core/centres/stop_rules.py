"""When a step is the last one of its search.

Symbols in the notes: s is the size of a step, R the range of the segment's values, b the width of
the bracket, d the distance from the trial to the nearest data value, n the number of values.
"""

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from pipeline.core.centres.brackets import Brackets
from pipeline.core.centres.slopes import Trial
from pipeline.core.minkowski import power
from pipeline.core.types import BoolArray, FloatArray


class Proposal(NamedTuple):
    """Steps that searches could take next, from their last trials into their brackets.

    `size` and `width`, that of the bracket, are of shape (searches,).
    """

    size: FloatArray
    width: FloatArray
    brackets: Brackets
    trial: Trial


class StopRule(Protocol):
    """Decides which steps are the last ones of their searches."""

    def __call__(self, proposed: Proposal) -> tuple[FloatArray, BoolArray]:
        """Return the sizes of the steps to take, and whether each is the last."""
        ...


@dataclass(frozen=True)
class SmallStep:
    """End with a step that is a small share of the range.

    Notes
    -----
    A step is the last one if ::

        s <= share R
    """

    share: float

    def __call__(self, proposed: Proposal) -> tuple[FloatArray, BoolArray]:
        """Return the sizes unchanged, and whether they are small."""
        return proposed.size, proposed.size <= proposed.brackets.share_of_span(self.share)


@dataclass(frozen=True)
class GapStopInFloat64:
    """End a search below p = 2 where the rest of the way to the root is negligible.

    Notes
    -----
    The model of a gap search (see `gap_model`) takes the slope of the nearest data value as it is,
    and the slope of all others as linear. Its step misses the root by at most half the square of
    the step over d. A step is the last one if ::

        s <= rest R    or    s**2 / (2 d) <= rest R

    Where data values lie closer together than such steps, ``d < part s``, the model knows little of
    the values beyond them. The search goes on there, unless its bracket is narrow,
    ``b <= 4 certain R``. It takes a longer step, which should cross the root ::

        min(max(2 s, certain R), b / 2)
    """

    rest: float = 1e-9
    part: float = 10
    certain: float = 1e-8

    def __call__(self, proposed: Proposal) -> tuple[FloatArray, BoolArray]:
        """Return longer steps where the model is not certain, and whether steps are the last."""
        size, width, brackets, trial = proposed
        nearest, rest = np.minimum(trial.left, trial.right), brackets.share_of_span(self.rest)
        closing = (size <= rest) | (size <= np.sqrt(2 * rest) * np.sqrt(nearest))
        certain = brackets.share_of_span(self.certain)
        unsure = closing & (self.part * size > nearest) & (width > 4 * certain)
        beyond = np.minimum(np.maximum(2 * size, certain), width / 2)
        return np.where(unsure, beyond, size), closing & ~unsure


@dataclass(frozen=True)
class GapStopInFloat32:
    """End a search below p = 2 where the root is certainly near.

    Notes
    -----
    With g the slope at the trial and r its rise, both over p ::

        r = (p - 1) sum |x - centre| ** (p - 2)

    the mean power ``r / (n (p - 1))`` makes a usual distance u, which outliers hardly change. The
    range alone would not do: one outlier can make it much wider than all other values. The centre
    may be wrong by t ::

        u = (r / (n (p - 1))) ** (1 / (p - 2))
        t = min(of_range R, of_distance u)

    Within t of the trial, the mean distance to the data values is at most the one that follows from
    the dispersion D, plus t. For a given mean, the rise is least if all distances are equal
    (Jensen's inequality, because p - 2 < 0) ::

        least rise = n (p - 1) ((D / n) ** (1 / p) + t) ** (p - 2)

    So the root is no farther than t, and a step of at most t is the last one, if ::

        b <= t    or    |g| <= t least rise
    """

    of_range: float = 1e-3
    of_distance: float = 2e-2

    def __call__(self, proposed: Proposal) -> tuple[FloatArray, BoolArray]:
        """Return last steps of at most the tolerance, and whether steps are the last."""
        size, width, brackets, trial = proposed
        p, counts, precision = brackets.p, brackets.segments.counts, np.finfo(size.dtype)
        tolerance = self._tolerance(brackets, trial).astype(size.dtype)
        distance = power(trial.dispersions / counts, 1 / p) + tolerance + precision.tiny
        least_rise = counts * (p - 1) * power(distance, p - 2)
        closing = (width <= tolerance) | (np.abs(trial.slope) <= tolerance * least_rise)
        return np.where(closing, np.minimum(size, tolerance), size), closing

    def _tolerance(self, brackets: Brackets, trial: Trial) -> FloatArray:
        """Return how wrong the centres may be, t in the notes."""
        p, counts = brackets.p, brackets.segments.counts
        curved = trial.curvature > 0  # False for a constant feature
        rise = np.where(curved, trial.curvature / (counts * (p - 1)), 1.0)
        with np.errstate(over="ignore"):  # next to p = 2 rounding may make it any distance
            usual = power(rise, 1 / (p - 2))
        return np.asarray(np.minimum(self.of_range * brackets.span, self.of_distance * usual))
