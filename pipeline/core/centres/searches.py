"""Searches for the roots of slopes, each in a bracket that holds its root.

The slope of the summed powers rises with the centre, so the sign of a trial's slope tells on which
side of it the root is. All searches of one kind advance together, each for as long as it needs.
`Search._ended` lists all reasons for which a search ends.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from itertools import count
from typing import NamedTuple

import numpy as np

from pipeline.core.centres.brackets import Brackets
from pipeline.core.centres.gap_model import step_to_model_root
from pipeline.core.centres.slopes import Trial, slopes_above_2, slopes_below_2
from pipeline.core.centres.stop_rules import Proposal, SmallStep, StopRule
from pipeline.core.centres.types import Minima
from pipeline.core.minkowski import power
from pipeline.core.segments import Segments
from pipeline.core.types import BoolArray, Float64Array, FloatArray

#: A search gets this many steps of its own kind. Each further step halves the bracket.
MANY_STEPS = 15
#: Halving ends with a step of this share of the range.
HALVED_ENOUGH = SmallStep(1e-9)
#: How near a trial below p = 2 may come to a data value, as a share of the feature's range, and how
#: many numbers must lie between: a search would end on a value that is an end of its bracket.
NEAREST, NUMBERS_BETWEEN = 1e-13, 2


class Task(NamedTuple):
    """What to search for: the centre of every segment; all arrays are (segments,).

    Attributes
    ----------
    segments, p
        The values, and an exponent for each segment.
    low, high
        Ends of the brackets: the smallest and the largest value.
    start
        Where the first trial is.
    known
        Another place, and the curvature there; the place is infinite where there is none.
    """

    segments: Segments
    p: Float64Array
    low: FloatArray
    high: FloatArray
    start: FloatArray
    known: Minima | None = None


class Search(ABC):
    """Searches for the centres of all segments; the kinds differ in how far a step goes.

    Parameters
    ----------
    task
        What to search for.
    stop
        Decides on each step of the kind's own size.
    most_steps
        End all searches after this many steps. A search for a rough start has such a limit.
    """

    def __init__(self, task: Task, stop: StopRule, most_steps: int | None = None) -> None:
        segments, p, low, high, start, _ = task
        self.stop, self.most_steps = stop, most_steps
        self.trial = self.evaluate(segments, start, p)
        end = np.where(self.trial.slope > 0, low, high)
        self.brackets = Brackets(np.arange(len(p)), segments, p, high - low, start, end)
        self.centres, self.dispersions = np.empty((2, len(p)), dtype=start.dtype)

    @staticmethod
    @abstractmethod
    def evaluate(segments: Segments, at: FloatArray, p: Float64Array) -> Trial:
        """Evaluate all segments at trial centres."""

    @abstractmethod
    def _size(self, far: FloatArray) -> FloatArray:
        """Return how far to go from each trial; `far` is the way to the end of its bracket."""

    def solve(self) -> tuple[FloatArray, FloatArray]:
        """Return the centres of all segments, and the dispersions about them."""
        for steps in count(1):
            step, last = self._next_step(steps)
            to = self.brackets.centre + step
            ended = self._ended(last, to, steps)
            self._record(to, step)
            if ended.all():
                break
            self._go_on(~ended, to)
        return self.centres, self.dispersions

    def _next_step(self, steps: int) -> tuple[FloatArray, BoolArray]:
        """Return the next step of each search, and whether the stop rule calls it the last one.

        `far` is the way to the other end of the bracket, 0 for a trial at the root.
        """
        far = np.where(self._at_root, 0.0, self.brackets.end - self.brackets.centre)
        halve = steps > MANY_STEPS
        size = _half(far) if halve else self._size(far)
        stop = HALVED_ENOUGH if halve else self.stop
        decision = stop(Proposal(size, np.abs(far), self.brackets, self.trial, self._apart))
        return np.copysign(decision.size, far), decision.last

    def _ended(self, last: BoolArray, to: FloatArray, steps: int) -> BoolArray:
        """Return which searches end with this step, which leads `to` their centres.

        There is no other way to end a search. It ends if

        - the stop rule calls its step the `last` one. After `MANY_STEPS` the rule is
          `HALVED_ENOUGH` for all searches, and each step halves the bracket until it holds;
        - the slope of its trial is exactly 0, so that the trial is the root;
        - no number lies between its trial and the end of its bracket, so that the step rounds to
          one of them;
        - all searches have taken `most_steps`, the limit of a rough search.
        """
        if self.most_steps is not None:
            if steps >= self.most_steps:
                return np.full_like(last, True)
            if steps == 1:  # few could end so early, and dropping them would copy the others
                return np.full_like(last, False)
        no_number_between = (to == self.brackets.centre) | (to == self.brackets.end)
        return np.asarray(last | self._at_root | no_number_between)

    @property
    def _at_root(self) -> BoolArray:
        return np.asarray(self.trial.slope == 0)

    @property
    def _apart(self) -> FloatArray | float:
        """Distance to where the curvature is known too, infinite if nowhere."""
        return np.inf

    def minima(self) -> Minima:
        """Return minima from which the next searches can start."""
        return Minima.unknown(self.centres)

    def _record(self, to: FloatArray, step: FloatArray) -> None:
        """Keep what was found: searches that go on will overwrite it."""
        number = self.brackets.number
        self.centres[number] = to
        # The dispersions follow the last step to second order.
        more = self.brackets.p / 2 * self.trial.slope * step
        self.dispersions[number] = self.trial.dispersions + more

    def _go_on(self, going: BoolArray, to: FloatArray) -> BoolArray:
        """Drop the searches that have ended, try the others; return which crossed the root."""
        before, slope, centre = self.brackets.keep(going), self.trial.slope[going], to[going]
        self.trial = self.evaluate(before.segments, centre, before.p)
        crossed = np.asarray((self.trial.slope > 0) != (slope > 0))
        end = np.where(crossed, before.centre, before.end)
        self.brackets = replace(before, centre=centre, end=end)
        return crossed


class HalvingSearch(Search):
    """Searches that halve their brackets in every step.

    Next to p = 1, where the slope is a staircase, no other step is safe.
    """

    evaluate = staticmethod(slopes_below_2)

    def _size(self, far: FloatArray) -> FloatArray:
        return _half(far)


class NewtonSearch(Search):
    """Searches above p = 2, by Newton's method.

    `known` has another place for each search, the trial before the last one if there was one, and
    the curvature there; the place is infinite where there is none. `bend` is the derivative of the
    curvature over the curvature, as the two places tell. It corrects the step.
    """

    evaluate = staticmethod(slopes_above_2)

    def __init__(self, task: Task, stop: StopRule, most_steps: int | None = None) -> None:
        super().__init__(task, stop, most_steps)
        self.known, self.bend = task.known, np.zeros_like(self.centres)
        self.curvature = np.empty_like(self.centres)

    @property
    def _apart(self) -> FloatArray | float:
        return np.inf if self.known is None else np.abs(self.brackets.centre - self.known.at)

    def _size(self, far: FloatArray) -> FloatArray:
        curvature = np.where(self.trial.curvature == 0, 1.0, self.trial.curvature)  # 0: constant
        newton = -self.trial.slope / curvature
        if self.known is not None:
            self.bend = self._relative_bend(self.known, curvature)
            newton *= 1 - np.clip(newton * self.bend / 2, -0.5, 0.5)
        return _within_bracket(newton, far)

    def _relative_bend(self, known: Minima, curvature: FloatArray) -> FloatArray:
        """Return the derivative of the curvature over the curvature."""
        run = self.brackets.centre - known.at
        rise = 1 - known.curvature / curvature
        return np.asarray(rise / np.where(run == 0, np.inf, run))

    def _record(self, to: FloatArray, step: FloatArray) -> None:
        super()._record(to, step)
        curvature = self.trial.curvature
        self.curvature[self.brackets.number] = curvature * (1 + self.bend * step)

    def minima(self) -> Minima:
        """Return the centres with the curvatures there."""
        return Minima(self.centres, self.curvature)

    def _go_on(self, going: BoolArray, to: FloatArray) -> BoolArray:
        self.known = Minima(self.brackets.centre[going], self.trial.curvature[going])
        self.bend = np.zeros_like(self.known.at)  # a step that halves the bracket needs none
        return super()._go_on(going, to)


class GapSearch(Search):
    """Searches below p = 2, where the slope is infinitely steep at every data value.

    `end_slope` is the approximate slope at the end of each bracket.
    """

    evaluate = staticmethod(slopes_below_2)

    def __init__(self, task: Task, stop: StopRule, most_steps: int | None = None) -> None:
        super().__init__(task, stop, most_steps)
        segments, p, _, _, start, _ = task
        size = segments.counts * power(np.abs(self.brackets.end - start), p - 1)
        self.end_slope: FloatArray = np.copysign(size, -self.trial.slope).astype(start.dtype)

    def _size(self, far: FloatArray) -> FloatArray:
        """Go to the root of the gap model, or to that of the secant where it is nearer.

        In the gap between two data values the model is right. Beyond the gap the slope is a
        staircase, and the trial alone does not tell how it rises.
        """
        trial, centre = self.trial, self.brackets.centre
        apart = NUMBERS_BETWEEN * np.spacing(np.abs(centre))
        least = np.maximum(NEAREST * self.brackets.span, apart)
        bold = step_to_model_root(trial, self.brackets.p, least)
        rise = trial.slope - self.end_slope
        secant = far * (trial.slope / np.where(rise == 0, 1.0, rise))
        gap = np.where(far > 0, trial.right, trial.left)
        trusted = np.abs(bold) < np.maximum(gap, np.abs(secant))
        return _within_bracket(np.where(trusted, bold, secant), far)

    def _go_on(self, going: BoolArray, to: FloatArray) -> BoolArray:
        slope, end_slope = self.trial.slope[going], self.end_slope[going]
        crossed = super()._go_on(going, to)
        # An end that stays for long would hold the secant back.
        self.end_slope = np.where(crossed, slope, end_slope / 2)
        return crossed


def _half(far: FloatArray) -> FloatArray:
    return np.abs(far / 2)


def _within_bracket(step: FloatArray, far: FloatArray) -> FloatArray:
    """Return the sizes of the steps, or half the bracket where a step would leave it."""
    size, width = np.maximum(step * np.sign(far), 0.0), np.abs(far)
    return np.asarray(np.where(size < width, size, width / 2))
