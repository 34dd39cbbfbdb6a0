"""The paths of fixed-step walks, each decided as far as the minimum of its dispersion tells.

Notes
-----
Let g(x) be the dispersion of a segment about the position x of its path, c the minimum of g, and s
the length of the next step. g is convex. Hence

* a step that ends before c is taken;
* if x is behind c by b, no step is taken, because a step raises g by at least
  ``s (g(x) - g(c)) / b``, the chord, and ``p (p - 1) g(x) s (b + s / 2) / span ** 2``;
* otherwise exactly the steps shorter than some length s* are taken, where s* is about 2 (c - x).

So it is enough to evaluate the steps next to s*, and the longer one only if the chord from c to the
end of the shorter one does not rise above g(x) already. Where rounding could hide a rise or fall of
g, every step is evaluated, as in the walk.
"""

import numpy as np

from pipeline.core.centres.dispersions import segment_dispersions
from pipeline.core.centres.types import Centres
from pipeline.core.centres.walk import FIRST_STEP, STEPS
from pipeline.core.segments import Segments
from pipeline.core.types import BoolArray, Float64Array, IntArray

#: How far off a minimum may be, as a share of the segment's range: ten times what is promised.
TOLERANCE = 1e-6
#: Rounding cannot hide a difference of two dispersions that is a larger share of them.
NOISE = 64 * float(np.finfo(np.float64).eps)
#: How far off the dispersion at a minimum may be, as a share of it.
LEAST_ERROR = 1e-9


class Paths:
    """The paths of all segments; every array is (segments,).

    Attributes
    ----------
    position, dispersions
        Where each path is, and the dispersion there.
    direction
        1.0 or -1.0. A path never turns.
    shrinks
        How often the step was shrunk: the next step has the length ``STEPS[shrinks]``.
    taken
        How many steps were taken.
    """

    def __init__(self, segments: Segments, p: Float64Array, minimum: Centres) -> None:
        self.segments, self.p = segments, p
        self.minimum: Float64Array = minimum.centres.ravel().astype(np.float64)
        self.least: Float64Array = minimum.dispersions.ravel().astype(np.float64)
        self.span: Float64Array = (segments.highs - segments.lows).astype(np.float64)
        self.position: Float64Array = segments.means().astype(np.float64)
        self.dispersions = np.full(len(p), np.nan)
        self.shrinks, self.taken = np.zeros((2, len(p)), dtype=np.int64)
        self.direction = self._directions()

    def _directions(self) -> Float64Array:
        """Turn every path to the right if its first step does not ascend there."""
        ahead, tolerance = self.minimum - self.position, TOLERANCE * self.span
        direction = np.where(ahead > FIRST_STEP / 2, 1.0, -1.0)
        unclear = (ahead > -tolerance) & (ahead < FIRST_STEP + tolerance)
        unclear &= 2 * self.span >= FIRST_STEP  # otherwise every member would be farther away
        if unclear.any():
            some, p, at = self.segments.keep(unclear), self.p[unclear], self.position[unclear]
            self.dispersions[unclear] = segment_dispersions(some, at, p)
            ascends = self.dispersions[unclear] < segment_dispersions(some, at + FIRST_STEP, p)
            direction[unclear] = np.where(ascends, -1.0, 1.0)
        return direction

    def ahead(self, paths: IntArray) -> Float64Array:
        """Return how far ahead of some paths the minimum is; negative if it is behind."""
        return (self.minimum[paths] - self.position[paths]) * self.direction[paths]

    def stride(self) -> None:
        """Take all steps of the first length that end before the minimum."""
        ahead = self.ahead(np.arange(len(self.p)))
        steps = (np.maximum(ahead - TOLERANCE * self.span, 0.0) // FIRST_STEP).astype(np.int64)
        longest_first = np.argsort(-steps, kind="stable")
        self.position[longest_first] = _add_repeatedly(
            self.position[longest_first],
            self.direction[longest_first] * FIRST_STEP,
            steps[longest_first],
        )
        self.taken += steps
        new = (steps > 0) | np.isnan(self.dispersions)
        if new.any():
            self.dispersions[new] = segment_dispersions(
                self.segments.keep(new), self.position[new], self.p[new]
            )

    def settle(self, most_shrinks: int, rounds: IntArray | None = None) -> None:
        """Decide all steps until each step was shrunk `most_shrinks` times.

        Or until the `rounds` of each path are over: in a round a step is taken or shrunk.
        """
        paths = np.flatnonzero(self.dispersions > 0)  # the others are constant
        while len(paths):
            last = np.full(len(paths), most_shrinks - 1)
            if rounds is not None:
                last = np.minimum(last, rounds[paths] - self.taken[paths] - 1)
            first, moving = self._first_unclear(paths), np.minimum(last, self._last_moving(paths))
            self.shrinks[paths] = np.maximum(last + 1, self.shrinks[paths])
            unclear = first <= moving
            paths = self._take_next(paths[unclear], first[unclear], moving[unclear])

    def _first_unclear(self, paths: IntArray) -> IntArray:
        """Return the index of the first step that might be taken, as far as is known already."""
        ahead, here, p, span = (
            self.ahead(paths),
            self.dispersions[paths],
            self.p[paths],
            self.span[paths],
        )
        behind = -ahead - TOLERANCE * span
        is_behind = behind > 0
        curved = p * (p - 1) * here * behind / span**2
        chord = (here * (1 - LEAST_ERROR) - self.least[paths]) / np.where(is_behind, -ahead, 1.0)
        hidden = 2 * NOISE * here / np.where(is_behind, np.maximum(curved, chord), 1.0)
        # A step twice as long as the range takes the centre farther from every member.
        shortest = np.minimum(np.where(is_behind, hidden, np.inf), 2 * span)
        return np.maximum(np.searchsorted(-STEPS, -shortest), self.shrinks[paths])

    def _last_moving(self, paths: IntArray) -> IntArray:
        """Return the index of the last step that is not lost when it is added to the position."""
        return np.searchsorted(-STEPS, -np.spacing(np.abs(self.position[paths])) / 4)

    def _take_next(self, paths: IntArray, first: IntArray, last: IntArray) -> IntArray:
        """Take the next step of some paths, from `first` to `last`; return those that took one."""
        if not len(paths):
            return paths
        step, dispersions = NextSteps(self, paths, first, last).find()
        taken = step <= last
        paths, step = paths[taken], step[taken]
        self.shrinks[paths] = step
        self.position[paths] += self.direction[paths] * STEPS[step]
        self.dispersions[paths] = dispersions[taken]
        self.taken[paths] += 1
        return paths


def _add_repeatedly(start: Float64Array, step: Float64Array, times: IntArray) -> Float64Array:
    """Add each step so many `times`, which descend. One product would round differently."""
    position = start.copy()
    for number in range(int(times.max(initial=0))):
        going = np.searchsorted(-times, -number)
        position[:going] += step[:going]
    return position


class NextSteps:
    """The search for the next step that each of the chosen paths takes: its index in `STEPS`.

    The index is at least `low`, which begins at `first`. It is at most `high`, the index of a step
    that is taken and leads to `dispersions`, or ``last + 1`` if no step up to `last` is known to be
    taken.
    """

    def __init__(self, on: Paths, paths: IntArray, first: IntArray, last: IntArray) -> None:
        chosen = np.zeros(len(on.p), dtype=np.bool_)
        chosen[paths] = True
        self.segments, self.p = on.segments.keep(chosen), on.p[paths]
        self.position, self.direction = on.position[paths], on.direction[paths]
        self.here, self.least, self.ahead = on.dispersions[paths], on.least[paths], on.ahead(paths)
        self.first, self.low, self.high, self.last = first, first.copy(), last + 1, last
        self.dispersions = np.full(len(paths), np.nan)

    def find(self) -> tuple[IntArray, Float64Array]:
        """Return the index of the next step taken, and the dispersion after it."""
        trying, segments = np.arange(len(self.low)), self.segments
        guess = np.searchsorted(-STEPS, -2 * np.maximum(self.ahead, 0.0), side="right")
        while len(trying):
            step = np.clip(guess, self.low[trying], np.minimum(self.high, self.last)[trying])
            clear = self._try(trying, segments, step)
            if not clear.all():
                self._walk(trying[~clear], segments.keep(~clear))
            open_ = self.low[trying] < self.high[trying]
            trying, segments = trying[open_], segments.keep(open_)
            is_bounded = self.high[trying] <= self.last[trying]
            guess = np.where(is_bounded, self.high[trying] - 1, self.low[trying])
        return self.high, self.dispersions

    def _try(self, trying: IntArray, segments: Segments, step: IntArray) -> BoolArray:
        """Evaluate one step of some paths; return where rounding cannot have decided."""
        here, there = self.here[trying], self._evaluate(trying, segments, step)
        taken = there < here
        self.low[trying[~taken]] = step[~taken] + 1
        self._note(trying[taken], step[taken], there[taken])
        self._extrapolate(trying[taken], step[taken])
        return np.asarray(np.abs(there - here) > NOISE * here)

    def _evaluate(self, trying: IntArray, segments: Segments, step: IntArray) -> Float64Array:
        there = self.position[trying] + self.direction[trying] * STEPS[step]
        return np.asarray(segment_dispersions(segments, there, self.p[trying]), dtype=np.float64)

    def _note(self, taken: IntArray, step: IntArray, dispersions: Float64Array) -> None:
        """Note steps that would be taken."""
        self.high[taken], self.dispersions[taken] = step, dispersions

    def _extrapolate(self, taken: IntArray, step: IntArray) -> None:
        """Refuse the longer step if the chord from the minimum to the end of `step` is too high."""
        ahead, least = self.ahead[taken], self.least[taken]
        past = STEPS[step] - ahead
        passes = (past > TOLERANCE * STEPS[step]) & (step > 0)
        slope = (self.dispersions[taken] - least) / np.where(passes, past, 1.0)
        there = least + slope * (STEPS[step - 1] - ahead)
        refused = passes & (there > self.here[taken] * (1 + LEAST_ERROR))
        self.low[taken[refused]] = step[refused]

    def _walk(self, trying: IntArray, segments: Segments) -> None:
        """Evaluate one step after the other until one is taken."""
        self._note(trying, self.last[trying] + 1, np.full(len(trying), np.nan))
        self.low[trying] = self.first[trying]
        while len(trying):
            step = self.low[trying]
            there = self._evaluate(trying, segments, step)
            taken = there < self.here[trying]
            self._note(trying[taken], step[taken], there[taken])
            self.low[trying[~taken]] += 1
            open_ = self.low[trying] < self.high[trying]
            trying, segments = trying[open_], segments.keep(open_)
