"""Rules that decide where an exact search starts.

A guess needs no power. A rough search takes a few steps in float32, from a guess.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pipeline.core.centres.searches import Search, Task
from pipeline.core.centres.stop_rules import StopRule
from pipeline.core.segments import Segments
from pipeline.core.types import Float64Array, FloatArray

#: Returns where a search starts, given segments, their means and exponents.
StartRule = Callable[[Segments, FloatArray, Float64Array], FloatArray]

#: The curvature for p = 1.5 times the sum of the square roots, over the squared number of values:
#: 0.67 for uniform values, 0.71 for normal ones.
TYPICAL_CURVATURE = 0.7
#: Guesses follow the parabola over p up to p = 5.
FARTHEST_GUESS = 3


def guess_mean(segments: Segments, means: FloatArray, p: Float64Array) -> FloatArray:  # noqa: ARG001
    """Guess the means."""
    return means


def guess_above_2(segments: Segments, means: FloatArray, p: Float64Array) -> FloatArray:
    """Guess the centres by products alone.

    Newton's steps from the mean for p = 3 and p = 4 need products only. With no step for p = 2
    they make a parabola over p.
    """
    three, four = np.empty((2, len(means)), dtype=means.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # the mean replaces a guess that overflows
        for some, batch in segments.batches:
            differences = batch.values - batch.spread(means[some])
            for step, factor, sizes in ((three, 2, np.abs(differences)), (four, 3, differences**2)):
                curvature = factor * batch.sums(sizes)
                sizes *= differences
                step[some] = batch.sums(sizes) / np.where(curvature == 0, 1.0, curvature)
        q = np.minimum(p - 2, FARTHEST_GUESS).astype(means.dtype)
        guess = means + three * q * (2 - q) + four * q * (q - 1) / 2
    return np.where(np.isfinite(guess), guess, means)


def guess_below_2(segments: Segments, means: FloatArray, p: Float64Array) -> FloatArray:
    """Guess the centres by square roots.

    For p = 1.5 the slope at the mean is a sum of square roots. The curvature follows from the
    sizes of all of them, not from the few values next to the mean. For other exponents the step is
    proportional to 2 - p.
    """
    slope, sizes = np.empty((2, len(means)), dtype=means.dtype)
    for some, batch in segments.batches:
        differences = batch.values - batch.spread(means[some])
        roots = np.sqrt(np.abs(differences))
        sizes[some] = batch.sums(roots)
        slope[some] = batch.sums(np.copysign(roots, differences, out=roots))
    counts = segments.counts.astype(means.dtype)
    step = (slope / counts) * (sizes / counts) / TYPICAL_CURVATURE
    return np.asarray(means + step * ((2 - p) / 0.5).astype(means.dtype))


@dataclass(frozen=True)
class RoughSearch:
    """Start a float64 search where a few steps in float32 end.

    With such a start, one evaluation in float64 is enough for most searches.
    """

    search: type[Search]
    guess: StartRule
    stop: StopRule
    most_steps: int

    def __call__(self, segments: Segments, means: FloatArray, p: Float64Array) -> FloatArray:
        """Search among the values in float32, in units of their range from their mean."""
        unit = np.maximum(segments.highs - segments.lows, np.finfo(means.dtype).tiny)
        low, high = (
            np.asarray((end - means) / unit, dtype="float32")
            for end in (segments.lows, segments.highs)
        )
        offsets = segments.in_float32(means, unit)
        start = np.clip(self.guess(offsets, np.zeros_like(low), p), low, high)
        search = self.search(Task(offsets, p, low, high, start), self.stop, self.most_steps)
        return np.asarray(means + unit * search.solve()[0])
