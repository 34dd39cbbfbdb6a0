"""The slope of the summed powers at trial centres, and where models of it put its root."""

from dataclasses import dataclass

import numpy as np

from pipeline.core.minkowski import power, powers, spread_exponents
from pipeline.core.segments import Runs
from pipeline.core.types import BoolArray, FloatArray, IntArray

#: Rounds that solve for the step below p = 2: more would save no evaluation.
MODEL_ROUNDS = 2
#: The second derivative for p = 1.5, over 1.5, times the sum of the square roots, over the squared
#: number of values: 0.67 for uniform values, 0.71 for normal ones.
RISE = 0.7
#: Guesses follow the parabola over p as far as p = 5.
FARTHEST_GUESS = 3


@dataclass(frozen=True)
class Trial:
    """Sums over each run at its trial centre.

    `slope` and `curvature` are the first and second derivative over p; `left` and `right` are the
    distances to the nearest data values on both sides, below p = 2.
    """

    slope: FloatArray
    curvature: FloatArray
    dispersions: FloatArray
    left: FloatArray
    right: FloatArray


def evaluate(runs: Runs, at: FloatArray, p: FloatArray) -> Trial:
    """Add up all runs at trial centres; the exponents are all below 2, or all above it."""
    trial = Trial(*np.empty((5, len(at)), dtype=at.dtype))
    for some, block in runs.blocks:
        differences = block.spread(at[some])
        differences -= block.values
        add_up = _add_up_below_2 if p[0] < 2 else _add_up_above_2
        add_up(block, differences, p[some], trial, some)
    np.multiply(trial.curvature, p - 1, out=trial.curvature, casting="same_kind")
    return trial


def _add_up_above_2(
    block: Runs, differences: FloatArray, p: FloatArray, trial: Trial, some: slice
) -> None:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p - 2, block.counts, terms.dtype), out=terms)
    trial.curvature[some] = block.sums(terms)
    terms *= differences
    trial.slope[some] = block.sums(terms)
    terms *= differences
    trial.dispersions[some] = block.sums(terms)


def _add_up_below_2(
    block: Runs, differences: FloatArray, p: FloatArray, trial: Trial, some: slice
) -> None:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p, block.counts, terms.dtype), out=terms)
    trial.dispersions[some] = block.sums(terms)
    differences += np.finfo(differences.dtype).tiny  # changes zeros only, which have no inverse
    inverse = np.reciprocal(differences, out=differences)
    terms *= inverse
    trial.slope[some] = block.sums(terms)
    terms *= inverse
    trial.curvature[some] = block.sums(terms)
    trial.left[some], trial.right[some] = _neighbours(inverse, block.starts)


def _neighbours(inverse: FloatArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest positive and the smallest negative difference, both as distances.

    Takes inverse differences. Where there is none (a constant feature), 1 will do.
    """
    above, below = np.maximum.reduceat(inverse, starts), -np.minimum.reduceat(inverse, starts)
    return 1 / np.where(above > 0, above, 1.0), 1 / np.where(below > 0, below, 1.0)


def guess_above_2(runs: Runs, means: FloatArray, p: FloatArray) -> FloatArray:
    """Guess where the roots are, without a power.

    Newton's steps from the mean for p = 3 and p = 4 need products only; with no step for p = 2
    they make a parabola over p.
    """
    three, four = np.empty((2, len(means)), dtype=means.dtype)
    with np.errstate(over="ignore", invalid="ignore"):  # a guess that is no number is the mean
        for some, block in runs.blocks:
            differences = block.values - block.spread(means[some])
            for step, rise, sizes in ((three, 2, np.abs(differences)), (four, 3, differences**2)):
                flat = block.sums(sizes)
                sizes *= differences
                step[some] = block.sums(sizes) / np.where(flat == 0, 1.0, rise * flat)
        q = np.minimum(p - 2, FARTHEST_GUESS).astype(means.dtype)
        guess = means + three * q * (2 - q) + four * q * (q - 1) / 2
    return np.where(np.isfinite(guess), guess, means)


def guess_below_2(runs: Runs, means: FloatArray, p: FloatArray) -> FloatArray:
    """Guess where the roots are, with square roots for powers.

    For p = 1.5 the slope at the mean is a sum of square roots. How it rises is told by the sizes of
    these, not by the few values next to the mean. For other exponents the step goes with 2 - p.
    """
    slope, sizes = np.empty((2, len(means)), dtype=means.dtype)
    for some, block in runs.blocks:
        differences = block.values - block.spread(means[some])
        roots = np.sqrt(np.abs(differences))
        sizes[some] = block.sums(roots)
        slope[some] = block.sums(np.copysign(roots, differences, out=roots))
    counts = runs.counts.astype(means.dtype)
    step = (slope / counts) * (sizes / counts) / RISE
    return np.asarray(means + step * ((2 - p) / 0.5).astype(means.dtype))


def newton_step(trial: Trial) -> FloatArray:
    """Return the step to the root of a line."""
    flat = trial.curvature == 0  # a constant feature
    return -trial.slope / np.where(flat, 1.0, trial.curvature)


def step_below_2(trial: Trial, p: FloatArray, least: FloatArray) -> FloatArray:
    """Return the step to the root of: the slope of one neighbour as it is, plus a line.

    With q = p - 1 and x the distance from the neighbour on the root's side of the gap, the root
    has ``copies * x ** q + line * x = |rest|``. The step ends at `least` that far from the
    neighbour: on a data value nothing tells of its own slope.
    """
    dtype = trial.slope.dtype
    q, tiny = (p - 1).astype(dtype), np.finfo(dtype).tiny
    offset = np.where(_is_left_of_middle(trial, q), trial.left, -trial.right)
    apart = np.abs(offset) > 2 * tiny
    own = np.where(apart, np.sign(offset) * power(np.abs(offset), q), 0.0)
    own_slope = q * own / np.where(apart, offset, 1.0)
    copies = _copies(trial.curvature / np.where(apart, own_slope, np.inf))
    line = np.maximum(trial.curvature - copies * own_slope, 0.0)
    rest = trial.slope - copies * own - line * offset
    x = _solve(copies, line, np.abs(rest), q, np.abs(own))
    return np.asarray(-np.sign(rest) * np.maximum(x, least) - offset)


def _is_left_of_middle(trial: Trial, q: FloatArray) -> BoolArray:
    """Tell on which side of the middle between both neighbours the root is, others taken linear."""
    without_neighbours = trial.slope - power(trial.left, q) + power(trial.right, q)
    to_middle = (trial.right - trial.left) / 2
    return np.asarray(without_neighbours + trial.curvature * to_middle >= 0)


def _copies(ratio: FloatArray) -> FloatArray:
    """Return how often the neighbour occurs, told by its share of the curvature.

    That share is near a whole number only close to the neighbour, where it matters.
    """
    whole = np.rint(ratio)
    return np.where((np.abs(ratio - whole) < 0.01) & (whole >= 1), whole, 1.0)


def _solve(
    copies: FloatArray, line: FloatArray, goal: FloatArray, q: FloatArray, near: FloatArray
) -> FloatArray:
    """Return x with ``copies * x ** q + line * x = goal``, by Newton's method for y = x ** q.

    It starts from `near`, what y is at the trial, so that a trial at the root stays there.
    """
    tiny = np.finfo(goal.dtype).tiny
    # What is too large for a number is no step, and the search takes another.
    with np.errstate(over="ignore", invalid="ignore"):
        most = np.minimum(goal / copies, power(goal / np.maximum(line, tiny), q))
        y = np.minimum(near, most)
        for _ in range(MODEL_ROUNDS):
            linear = line * power(y, 1 / q)
            y -= (copies * y + linear - goal) / (copies + linear / np.maximum(q * y, tiny))
            np.minimum(y, most, out=y)
        return power(y, 1 / q)
