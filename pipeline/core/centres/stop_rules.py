"""Rules that decide on a step: how far it goes, and whether it is the last one of its search.

Symbols in the notes: s is the size of a step, R the range of the segment's values, b the width of
the bracket, d the distance from the trial to the nearest data value, n the number of values.
`Search._ended` in `searches` lists the other reasons for which a search ends.
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

    `size`, `width`, that of the bracket, and `apart`, the distance to another place where the
    curvature is known, are of shape (searches,). `apart` is infinite where there is none.
    """

    size: FloatArray
    width: FloatArray
    brackets: Brackets
    trial: Trial
    apart: FloatArray | float = np.inf


class Decision(NamedTuple):
    """What a stop rule decides; both arrays are (searches,).

    Attributes
    ----------
    size
        How far to go. Most rules take the step that is proposed, some a longer or a shorter one.
    last
        Whether this step is the last one of its search.
    """

    size: FloatArray
    last: BoolArray


class StopRule(Protocol):
    """Decides how far each step goes, and whether it is the last one of its search."""

    def __call__(self, proposed: Proposal) -> Decision:
        """Decide on the proposed steps."""
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

    def __call__(self, proposed: Proposal) -> Decision:
        """Take the proposed steps, and end with the small ones."""
        small = proposed.size <= proposed.brackets.share_of_span(self.share)
        return Decision(proposed.size, small)


@dataclass(frozen=True)
class NewtonStopInFloat64:
    """End a search above p = 2 where its step misses the root by a negligible share of the range.

    Notes
    -----
    A step of Newton's method misses the root by about s**2 / R. A step that is corrected by the
    change of the curvature since another place, at a distance of a, misses it by about
    ``s**2 (s + a) / R**2``, if the curvature is smooth: below p = 3 it is not, and steps must be
    short. A step is the last one if ::

        s <= short R    or    s**2 (s + a) <= negligible R**3  and  (p >= 3  or  s <= 10 short R)
    """

    short: float = 1e-5
    negligible: float = 1e-9

    def __call__(self, proposed: Proposal) -> Decision:
        """Take the proposed steps, and end where they lead to the root."""
        size, _, brackets, _, apart = proposed
        short, span = brackets.share_of_span(self.short), brackets.span
        farthest = size + apart + np.finfo(span.dtype).tiny
        corrected = size**2 <= self.negligible * span**3 / farthest
        smooth = (brackets.p >= 3) | (size <= 10 * short)
        return Decision(size, np.asarray((size <= short) | (corrected & smooth)))


@dataclass(frozen=True)
class GapStopInFloat64:
    """End a search below p = 2 where its step misses the root by a negligible share of the range.

    Notes
    -----
    The model of a gap search (see `gap_model`) is right about the nearest data value and takes all
    others as linear. Its step misses the root by at most ``s**2 / (2 d)``. With e the
    `negligible_share`, the step ends near the root if ::

        s <= e R    or    s**2 / (2 d) <= e R

    Among crowded values the model cannot be trusted, because it knows little of the values beyond
    the nearest one. With c the `crossing_share`, these are data values much closer than the step,
    in a bracket that is not narrow yet ::

        d < crowding s    and    b > 4 c R

    The decision is ::

        near the root    crowded    step                        last
        no               any        s                           no
        yes              no         s                           yes
        yes              yes        min(max(2 s, c R), b / 2)   no

    The longer step should cross the root, so that the bracket becomes narrow.
    """

    negligible_share: float = 1e-9
    crowding: float = 10
    crossing_share: float = 1e-8

    def __call__(self, proposed: Proposal) -> Decision:
        """End near the root; among crowded values take a longer step first."""
        size, width, brackets, trial, _ = proposed
        nearest = np.minimum(trial.left, trial.right)
        negligible = brackets.share_of_span(self.negligible_share)
        crossing = brackets.share_of_span(self.crossing_share)
        near_root = (size <= negligible) | (size <= np.sqrt(2 * negligible) * np.sqrt(nearest))
        crowded = (self.crowding * size > nearest) & (width > 4 * crossing)
        longer = np.minimum(np.maximum(2 * size, crossing), width / 2)
        return Decision(np.where(near_root & crowded, longer, size), near_root & ~crowded)


@dataclass(frozen=True)
class GapStopInFloat32:
    """End a search below p = 2 where the root is certainly near.

    Notes
    -----
    With g the slope and h the curvature of the trial ::

        h = (p - 1) sum |x - centre| ** (p - 2)

    the mean power ``h / (n (p - 1))`` makes a usual distance u, which outliers hardly change. The
    range alone would not do: one outlier can make it much wider than all other values. The centre
    may be wrong by t ::

        u = (h / (n (p - 1))) ** (1 / (p - 2))
        t = min(of_range R, of_distance u)

    Within t of the trial, the mean distance to the data values is at most the one that follows from
    the dispersion D, plus t. For a given mean, the curvature is least if all distances are equal
    (Jensen's inequality, because p - 2 < 0) ::

        least curvature = n (p - 1) ((D / n) ** (1 / p) + t) ** (p - 2)

    So the root is at most t away, and a step of at most t is the last one, if ::

        b <= t    or    |g| <= t least curvature
    """

    of_range: float = 1e-3
    of_distance: float = 2e-2

    def __call__(self, proposed: Proposal) -> Decision:
        """End where the root is within the tolerance, with a step of at most the tolerance."""
        size, width, brackets, trial, _ = proposed
        p, counts, precision = brackets.p, brackets.segments.counts, np.finfo(size.dtype)
        tolerance = self._tolerance(brackets, trial).astype(size.dtype)
        distance = power(trial.dispersions / counts, 1 / p) + tolerance + precision.tiny
        least_curvature = counts * (p - 1) * power(distance, p - 2)
        near_root = (width <= tolerance) | (np.abs(trial.slope) <= tolerance * least_curvature)
        return Decision(np.where(near_root, np.minimum(size, tolerance), size), near_root)

    def _tolerance(self, brackets: Brackets, trial: Trial) -> FloatArray:
        """Return how wrong the centres may be, t in the notes."""
        p, counts = brackets.p, brackets.segments.counts
        curved = trial.curvature > 0  # False for a constant feature
        mean_power = np.where(curved, trial.curvature / (counts * (p - 1)), 1.0)
        with np.errstate(over="ignore"):  # next to p = 2 rounding may make it any distance
            usual = power(mean_power, 1 / (p - 2))
        return np.asarray(np.minimum(self.of_range * brackets.span, self.of_distance * usual))
