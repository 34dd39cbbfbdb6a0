"""Exact Minkowski centres, as roots of the slope of the summed powers.

The slope rises with the centre, so a bracket always holds the root, in which Newton's method leads
to it. Below p = 2 the slope is infinitely steep at every data value, where Newton's method stalls:
there the data value nearest to the trial is taken as it is, and only the rest of the slope as
linear. Next to p = 1 the slope is all steps, and only halving the bracket is safe.

Other searches start from a guess that needs no power. A float64 run first searches in float32 for
where to start, so that one evaluation in float64 is enough for most.
"""

from itertools import count

import numpy as np

from pipeline.core.minkowski import power
from pipeline.core.runs import BoolArray, Centres, Groups, Runs, centres_by_kind
from pipeline.core.slopes import evaluate, guess_above_2, guess_below_2, newton_step, step_below_2
from pipeline.core.validation import FloatArray

#: Below this exponent the bracket is halved in every step.
ALL_STEPS = 1.06
#: A search gets this many steps before each further one halves the bracket.
MANY_STEPS = 15
#: The last step of a search, as a share of the feature's range: above p = 2 what is left is about
#: its square; when halving, it is the step itself.
LAST_STEP, LAST_STEP_IN_FLOAT32, LAST_SMALL_STEP = 1e-5, 2e-3, 1e-9
#: Below p = 2 at most half the square of the step over the distance of the nearest data value is
#: left: that must be no more than this share of the range.
LEFT_BELOW_2 = 1e-9
#: How many steps a start is worth, above p = 2 and below, and its last step there.
ROUGH_STEPS, ROUGH_STEPS_BELOW_2, LAST_ROUGH_STEP_BELOW_2 = 1, 6, 1e-4
#: Among data values closer than some last steps the model below p = 2 knows little of what lies
#: beyond them: there the root must lie in a bracket of about this share of the range.
SMALL_PART, CERTAIN = 10, 1e-8
#: How near a trial below p = 2 may come to a data value, as a share of the feature's range, and how
#: many numbers must lie between: on a value that is an end of the bracket a search would end.
NEAREST, NUMBERS_BETWEEN = 1e-13, 2


def root_of_slope(groups: Groups, p: FloatArray) -> Centres:
    """Find the centres of groups with exponents other than 1 and 2."""
    kinds = (p < ALL_STEPS, (p >= ALL_STEPS) & (p < 2), p > 2)
    return centres_by_kind(groups, p, [(kind, _search_groups) for kind in kinds])


def _search_groups(groups: Groups, p: FloatArray) -> Centres:
    """Search for the centres of groups whose exponents are all of one of the three kinds."""
    runs, exponents = groups.runs, np.tile(p, len(groups.columns))
    low, high, means = runs.lows, runs.highs, runs.means()
    if means.dtype == np.float32 or p[0] < ALL_STEPS:
        start = _guess(runs, exponents, low, high, means)
    else:
        start = _rough_root(runs, exponents, low, high, means)
    centres, dispersions = _Search(runs, exponents, low, high, start).run()
    return Centres(centres.reshape(-1, len(p)), dispersions.reshape(-1, len(p)))


def _rough_root(
    runs: Runs, p: FloatArray, low: FloatArray, high: FloatArray, means: FloatArray
) -> FloatArray:
    """Return where a search in float32 ends, which is in units of the range about the mean."""
    unit = np.maximum(high - low, np.finfo(means.dtype).tiny)
    down, up = (np.asarray((end - means) / unit, dtype="float32") for end in (low, high))
    offsets = runs.in_units(means, unit)
    start = _guess(offsets, p, down, up, np.zeros_like(up))
    rough = _Search(offsets, p, down, up, start, rough=True)
    return np.asarray(np.clip(means + unit * rough.run()[0], low, high))


def _guess(
    runs: Runs, p: FloatArray, low: FloatArray, high: FloatArray, means: FloatArray
) -> FloatArray:
    """Return where to look first."""
    if p[0] < ALL_STEPS:
        return means
    guess = guess_above_2 if p[0] > 2 else guess_below_2
    return np.clip(guess(runs, means, p), low, high)


class _Search:
    """The searches of all runs, between `low` and `high`; arrays shrink as searches end.

    The trial `centre` is one end of the bracket, `end` is the other.
    """

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
        # The slope at the end of the data, roughly: enough for a secant.
        size = runs.counts * power(np.abs(self.end - start), p - 1)
        self.end_slope = np.copysign(size, -self.trial.slope).astype(start.dtype)
        self.searching = np.arange(len(p))
        self.centres, self.dispersions = np.empty((2, len(p)), dtype=start.dtype)

    def run(self) -> tuple[FloatArray, FloatArray]:
        """Return centres and dispersions."""
        for steps in count(1):
            at_root = self.trial.slope == 0
            far = np.where(at_root, 0.0, self.end - self.centre)
            halving = steps > MANY_STEPS or self.p[0] < ALL_STEPS
            step, closing = self._halve(far) if halving else self._leap(far)
            to = self.centre + step
            # There may be no number between the ends.
            closing |= at_root | (to == self.centre) | (to == self.end)
            if steps == 1 and self.p[0] < 2 and self.span.dtype == np.float32:
                # Few could end this early, and dropping them would copy all the others.
                closing[:] = False
            if self.rough and steps == (ROUGH_STEPS if self.p[0] > 2 else ROUGH_STEPS_BELOW_2):
                closing[:] = True
            self._record(to, step)
            if closing.all():
                break
            self._go_on(~closing, to)
        return self.centres, self.dispersions

    def _halve(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the step to the middle of the bracket, and whether it is the last."""
        return far / 2, np.abs(far / 2) <= _resolved(LAST_SMALL_STEP, self.span)

    def _leap(self, far: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return the step that a model of the slope proposes, and whether it is the last.

        A step that would leave the bracket is one to its middle.
        """
        bold = newton_step(self.trial) if self.p[0] > 2 else self._step_below_2(far)
        size, width = np.maximum(bold * np.sign(far), 0.0), np.abs(far)
        size = np.where(size < width, size, width / 2)
        if self.p[0] > 2:
            single = self.span.dtype == np.float32
            closing = size <= (LAST_STEP_IN_FLOAT32 if single else LAST_STEP) * self.span
        elif self.rough:
            closing = size <= LAST_ROUGH_STEP_BELOW_2 * self.span
        else:
            size, closing = self._last_below_2(size, width)
        return np.copysign(size, far), closing

    def _last_below_2(self, size: FloatArray, width: FloatArray) -> tuple[FloatArray, BoolArray]:
        """Return whether steps are the last ones; those that are too unsure to be get longer."""
        near = np.minimum(self.trial.left, self.trial.right)
        closing = size <= _resolved(LAST_SMALL_STEP, self.span)
        closing |= size <= np.sqrt(2 * _resolved(LEFT_BELOW_2, self.span)) * np.sqrt(near)
        certain = _resolved(CERTAIN, self.span)
        unsure = closing & (SMALL_PART * size > near) & (width > 4 * certain)
        beyond = np.minimum(np.maximum(2 * size, certain), width / 2)
        return np.where(unsure, beyond, size), closing & ~unsure

    def _step_below_2(self, far: FloatArray) -> FloatArray:
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

    def _record(self, to: FloatArray, step: FloatArray) -> None:
        """Keep what was found: searches that go on will find better."""
        self.centres[self.searching] = to
        # The dispersions follow the last step to second order.
        more = self.p / 2 * self.trial.slope * step
        self.dispersions[self.searching] = self.trial.dispersions + more

    def _go_on(self, going: BoolArray, to: FloatArray) -> None:
        """Take the next trial of those that go on, and drop the others."""
        self.runs, self.p = self.runs.only(going), self.p[going]
        self.searching, self.span = self.searching[going], self.span[going]
        before, slope = self.centre[going], self.trial.slope[going]
        self.centre = to[going]
        self.trial = evaluate(self.runs, self.centre, self.p)
        crossed = (self.trial.slope > 0) != (slope > 0)
        self.end = np.where(crossed, before, self.end[going])
        # An end that stays for long would hold the secant back.
        self.end_slope = np.where(crossed, slope, self.end_slope[going] / 2)


def _resolved(share: float | FloatArray, span: FloatArray) -> FloatArray:
    """Return a share of the span, but no less than the precision can tell apart."""
    return np.maximum(share, 4 * np.finfo(span.dtype).eps) * span
