"""Searches for the roots of slopes, each in a bracket that holds its root.

The slope of the summed powers rises with the centre, so the sign of a trial's slope tells on which
side of it the root is. All searches of one kind advance together, each for as long as it takes.
"""

from itertools import count
from typing import ClassVar

import numpy as np

from pipeline.core.centres.slopes import (
    evaluate,
    guess_above_2,
    guess_below_2,
    newton_step,
    step_below_2,
)
from pipeline.core.minkowski import power
from pipeline.core.segments import Runs
from pipeline.core.types import BoolArray, FloatArray

#: A search gets this many steps before each further one halves the bracket.
MANY_STEPS = 15
#: The last step of a search, as a share of the feature's range: above p = 2 what is left is about
#: its square; when halving, it is the step itself.
LAST_STEP, LAST_STEP_IN_FLOAT32, LAST_SMALL_STEP = 1e-5, 2e-3, 1e-9
#: Below p = 2 at most half the square of the step over the distance of the nearest data value is
#: left: that must be no more than this share of the range.
LEFT_BELOW_2 = 1e-9
#: float32 runs below p = 2 end where the root is no farther than these shares of the range and of
#: the usual distance, for sure. The range would not do: an outlier makes it as wide as can be.
SURE_OF_RANGE, SURE_OF_DISTANCE = 1e-3, 2e-2
#: The last step below p = 2 of a search for a start.
LAST_ROUGH_STEP_BELOW_2 = 1e-4
#: Among data values closer than some last steps the model below p = 2 knows little of what lies
#: beyond them: there the root must lie in a bracket of about this share of the range.
SMALL_PART, CERTAIN = 10, 1e-8
#: How near a trial below p = 2 may come to a data value, as a share of the feature's range, and how
#: many numbers must lie between: on a value that is an end of the bracket a search would end.
NEAREST, NUMBERS_BETWEEN = 1e-13, 2


class Search:
    """The searches of all runs, between `low` and `high`; arrays shrink as searches end.

    The trial `centre` is one end of the bracket, `end` is the other. Every step halves the bracket:
    next to p = 1, where the slope is all steps, nothing else is safe.
    """

    #: How many steps in float32 a start in float64 is worth.
    rough_steps: ClassVar[int] = 0

    def __init__(
        self,
        runs: Runs,
        p: FloatArray,
        low: FloatArray,
        high: FloatArray,
        start: FloatArray,
        rough: bool = False,
    ) -> None:
        self.runs, self.p, self.rough = runs, p, rough
        self.span, self.centre = high - low, start
        self.trial = evaluate(runs, start, p)
        self.end = np.where(self.trial.slope > 0, low, high)
        self.searching = np.arange(len(p))
        self.centres, self.dispersions = np.empty((2, len(p)), dtype=start.dtype)
        self._prepare()

    def _prepare(self) -> None:
        """Find what some kinds of searches need besides, from the first trial."""

    @staticmethod
    def guess(runs: Runs, means: FloatArray, p: FloatArray) -> FloatArray:  # noqa: ARG004
        """Return where to look first."""
        return means

    def run(self) -> tuple[FloatArray, FloatArray]:
        """Return centres and dispersions."""
        for steps in count(1):
            at_root = self.trial.slope == 0
            far = np.where(at_root, 0.0, self.end - self.centre)
            step, closing = self._halve(far) if steps > MANY_STEPS else self._propose(far)
            to = self.centre + step
            # There may be no number between the ends.
            closing |= at_root | (to == self.centre) | (to == self.end)
            if self.rough:
                # Few could end after their first step, and dropping them would copy the others.
                ending = steps >= self.rough_steps
                closing = np.full_like(closing, True) if ending else closing & (steps > 1)
            self._record(to, step)
            if closing.all():
                break
            self._go_on(~closing, to)
        return self.centres, self.dispersions

    def _propose(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the next step of each search, and whether it is the last."""
        return self._halve(far)

    def _halve(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        return far / 2, np.abs(far / 2) <= _resolved(LAST_SMALL_STEP, self.span)

    def _record(self, to: FloatArray, step: FloatArray) -> None:
        """Keep what was found: searches that go on will find better."""
        self.centres[self.searching] = to
        # The dispersions follow the last step to second order.
        more = self.p / 2 * self.trial.slope * step
        self.dispersions[self.searching] = self.trial.dispersions + more

    def _go_on(self, going: BoolArray, to: FloatArray) -> BoolArray:
        """Take the next trial of those that go on, drop the others; return who crossed the root."""
        self.runs, self.p = self.runs.only(going), self.p[going]
        self.searching, self.span = self.searching[going], self.span[going]
        before, slope = self.centre[going], self.trial.slope[going]
        self.centre = to[going]
        self.trial = evaluate(self.runs, self.centre, self.p)
        crossed = np.asarray((self.trial.slope > 0) != (slope > 0))
        self.end = np.where(crossed, before, self.end[going])
        return crossed


class NewtonSearch(Search):
    """Searches above p = 2, by Newton's method."""

    rough_steps = 1
    guess = staticmethod(guess_above_2)

    def _propose(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        size = _within(newton_step(self.trial), far)
        last = LAST_STEP_IN_FLOAT32 if size.dtype == np.float32 else LAST_STEP
        return np.copysign(size, far), size <= last * self.span


class GapSearch(Search):
    """Searches below p = 2, where the slope is infinitely steep at every data value.

    Newton's method stalls there. So the data value nearest to the trial is taken as it is, and only
    the rest of the slope as linear. `end_slope` is the slope at the end of the bracket, roughly.
    """

    rough_steps = 6
    guess = staticmethod(guess_below_2)

    def _prepare(self) -> None:
        size = self.runs.counts * power(np.abs(self.end - self.centre), self.p - 1)
        self.end_slope = np.copysign(size, -self.trial.slope).astype(self.centre.dtype)

    def _propose(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        size, width = _within(self._step(far), far), np.abs(far)
        if self.rough:
            closing = size <= LAST_ROUGH_STEP_BELOW_2 * self.span
        elif size.dtype == np.float32:
            size, closing = self._last_in_float32(size, width)
        else:
            size, closing = self._last(size, width)
        return np.copysign(size, far), closing

    def _step(self, far: FloatArray) -> FloatArray:
        """Return the step of the model, or the secant's where that is shorter.

        In the gap between its neighbours the model is right. Beyond it the slope is a staircase,
        whose rise the trial alone does not tell.
        """
        trial = self.trial
        apart = NUMBERS_BETWEEN * np.spacing(np.abs(self.centre))
        bold = step_below_2(trial, self.p, np.maximum(NEAREST * self.span, apart))
        rise = trial.slope - self.end_slope
        secant = far * (trial.slope / np.where(rise == 0, 1.0, rise))
        gap = np.where(far > 0, trial.right, trial.left)
        return np.where(np.abs(bold) < np.maximum(gap, np.abs(secant)), bold, secant)

    def _last(self, size: FloatArray, width: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return whether steps are the last ones; those that are too unsure to be get longer."""
        near = np.minimum(self.trial.left, self.trial.right)
        closing = size <= _resolved(LAST_SMALL_STEP, self.span)
        closing |= size <= np.sqrt(2 * _resolved(LEFT_BELOW_2, self.span)) * np.sqrt(near)
        certain = _resolved(CERTAIN, self.span)
        unsure = closing & (SMALL_PART * size > near) & (width > 4 * certain)
        beyond = np.minimum(np.maximum(2 * size, certain), width / 2)
        return np.where(unsure, beyond, size), closing & ~unsure

    def _last_in_float32(self, size: FloatArray, width: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return whether the root is near for sure, and steps that go no farther than that.

        The rise of the slope is (p - 1) times the summed distances to the power of p - 2. This mean
        power makes a mean distance that outliers hardly touch. Beyond the trial the rise is the
        least if all distances are equal to their mean, which is no more than their p-th powers
        tell, plus how far the root may be.
        """
        p, counts, dtype = self.p, self.runs.counts, size.dtype
        curved = self.trial.curvature > 0  # not so a constant feature
        rise = np.where(curved, self.trial.curvature / (counts * (p - 1)), 1.0)
        with np.errstate(over="ignore"):  # next to p = 2 rounding may make it any distance
            usual = power(rise, 1 / (p - 2))
        near = np.minimum(SURE_OF_RANGE * self.span, SURE_OF_DISTANCE * usual).astype(dtype)
        distance = power(self.trial.dispersions / counts, 1 / p) + near + np.finfo(dtype).tiny
        least_rise = counts * (p - 1) * power(distance, p - 2)
        closing = (width <= near) | (np.abs(self.trial.slope) <= near * least_rise)
        return np.where(closing, np.minimum(size, near), size), closing

    def _go_on(self, going: BoolArray, to: FloatArray) -> BoolArray:
        slope, end_slope = self.trial.slope[going], self.end_slope[going]
        crossed = super()._go_on(going, to)
        # An end that stays for long would hold the secant back.
        self.end_slope = np.where(crossed, slope, end_slope / 2)
        return crossed


def _within(bold: FloatArray, far: FloatArray) -> FloatArray:
    """Return how far to go towards the end of the bracket: half the way where steps leave it."""
    size, width = np.maximum(bold * np.sign(far), 0.0), np.abs(far)
    return np.asarray(np.where(size < width, size, width / 2))


def _resolved(share: float, span: FloatArray) -> FloatArray:
    """Return a share of the span, but no less than the precision can tell apart."""
    return np.asarray(max(share, 4 * float(np.finfo(span.dtype).eps)) * span)
