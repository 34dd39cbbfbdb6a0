"""Exact Minkowski centres, as roots of the slope of the summed powers.

The slope rises with the centre, so a bracket always holds the root, and Newton's method takes two
or three evaluations. Below p = 2 the slope is infinitely steep at every data value, where Newton's
method stalls: there the data value nearest to the trial is taken as it is, and only the rest of
the slope as linear. Next to p = 1 the slope is all steps, and only halving the bracket is safe.
"""

from dataclasses import dataclass

import numpy as np

from pipeline.core.minkowski import power, powers, spread_exponents
from pipeline.core.runs import BoolArray, Centres, Groups, Runs, centres_by_kind
from pipeline.core.validation import FloatArray, IntArray

#: Below this exponent the bracket is halved in every step.
ALL_STEPS = 1.06
#: A search gets this many steps before each further one halves the bracket.
MANY_STEPS = 15
#: The last step of a search, as a share of the feature's range: above p = 2 what is left is about
#: its square; near p = 1, and when halving, it is about the step itself.
LAST_STEP, LAST_STEP_BELOW_2, LAST_SMALL_STEP = 1e-5, 1e-6, 1e-9
#: From this exponent on the larger last step will do.
SMOOTH_ENOUGH = 1.3
#: Among data values closer than some last steps the model below p = 2 knows little of what lies
#: beyond them: there the root must lie in a bracket of about this share of the range.
SMALL_PART, CERTAIN = 10, 1e-8
#: How near a trial below p = 2 may come to a data value, as a share of the feature's range.
NEAREST = 1e-13
#: Rounds that solve for the step below p = 2: more would save no evaluation.
MODEL_ROUNDS = 3


@dataclass(frozen=True)
class _Trial:
    """Sums over each run at its trial centre.

    `slope` and `curvature` are the first and second derivative over p; `left` and `right` are the
    distances to the nearest data values on both sides.
    """

    slope: FloatArray
    curvature: FloatArray
    dispersions: FloatArray
    left: FloatArray
    right: FloatArray


def root_of_slope(groups: Groups, p: FloatArray) -> Centres:
    """Find the centres of groups with two members or more and an exponent other than 1 and 2."""
    kinds = (p < ALL_STEPS, (p >= ALL_STEPS) & (p < 2), p > 2)
    return centres_by_kind(groups, p, [(kind, _search_groups) for kind in kinds])


def _search_groups(groups: Groups, p: FloatArray) -> Centres:
    m = len(groups.columns)
    centres, dispersions = _search(groups.runs, np.tile(p, m))
    return Centres(centres.reshape(m, -1), dispersions.reshape(m, -1))


def _search(runs: Runs, p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Search from the means, with exponents that are all of one of the three kinds."""
    low, high, centre = runs.lows(), runs.highs(), runs.means()
    centres, dispersions = np.empty((2, *centre.shape), dtype=centre.dtype)
    span, searching = high - low, np.arange(len(p))
    steps = 0
    while len(searching):
        steps += 1
        trial = _evaluate(runs, centre, p)
        np.copyto(low, centre, where=trial.slope < 0)
        np.copyto(high, centre, where=trial.slope > 0)
        propose = _halve if steps > MANY_STEPS or p[0] < ALL_STEPS else _leap
        step, closing = propose(trial, low - centre, high - centre, span, p)
        closing |= centre + step == centre  # the precision cannot tell more
        # The dispersions follow the last step to second order.
        done = searching[closing]
        centres[done] = (centre + step)[closing]
        dispersions[done] = (trial.dispersions + p / 2 * trial.slope * step)[closing]
        centre = _inside(centre + step, low, high)
        going = ~closing
        if not going.all():
            runs, p, searching = runs.only(going), p[going], searching[going]
            low, high, centre, span = low[going], high[going], centre[going], span[going]
    return centres, dispersions


def _halve(
    trial: _Trial, down: FloatArray, up: FloatArray, span: FloatArray, _: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the step to the middle of the bracket, `down` to `up`, and whether it is the last."""
    step = np.where(trial.slope == 0, 0.0, (down + up) / 2)
    return step, np.abs(step) <= _resolved(LAST_SMALL_STEP, span)


def _leap(
    trial: _Trial, down: FloatArray, up: FloatArray, span: FloatArray, p: FloatArray
) -> tuple[FloatArray, BoolArray]:
    """Return the step that a model of the slope proposes, and whether it is the last."""
    bold = _newton_step(trial) if p[0] > 2 else _step_below_2(trial, p, NEAREST * span)
    step = np.where(np.isfinite(bold), np.clip(bold, down, up), (down + up) / 2)
    step = np.where(trial.slope == 0, 0.0, step)
    if p[0] > 2:
        return step, np.abs(step) <= _resolved(LAST_STEP, span)
    last = np.where(p >= SMOOTH_ENOUGH, LAST_STEP_BELOW_2, LAST_SMALL_STEP)
    closing = np.abs(step) <= _resolved(last, span)
    near = np.minimum(trial.left, trial.right)
    certain = _resolved(CERTAIN, span)
    unsure = closing & (SMALL_PART * np.abs(step) > near) & (up - down > 4 * certain)
    beyond = np.copysign(np.maximum(2 * np.abs(step), certain), step)
    return np.where(unsure, np.clip(beyond, down, up), step), closing & ~unsure


def _resolved(share: float | FloatArray, span: FloatArray) -> FloatArray:
    """Return a share of the span, but no less than the precision can tell apart."""
    return np.maximum(share, 4 * np.finfo(span.dtype).eps) * span


def _evaluate(runs: Runs, at: FloatArray, p: FloatArray) -> _Trial:
    trial = _Trial(*np.ones((5, len(at)), dtype=at.dtype))
    for some, block in runs.blocks():
        differences = block.spread(at[some])
        differences -= block.values
        evaluate = _evaluate_below_2 if p[0] < 2 else _evaluate_above_2
        evaluate(block, differences, p[some], trial, some)
    np.multiply(trial.curvature, p - 1, out=trial.curvature, casting="same_kind")
    return trial


def _evaluate_above_2(
    block: Runs, differences: FloatArray, p: FloatArray, trial: _Trial, some: slice
) -> None:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p - 2, block.counts, terms.dtype), out=terms)
    trial.curvature[some] = block.sums(terms)
    terms *= differences
    trial.slope[some] = block.sums(terms)
    terms *= differences
    trial.dispersions[some] = block.sums(terms)


def _evaluate_below_2(
    block: Runs, differences: FloatArray, p: FloatArray, trial: _Trial, some: slice
) -> None:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p, block.counts, terms.dtype), out=terms)
    trial.dispersions[some] = block.sums(terms)
    differences += np.finfo(differences.dtype).tiny  # changes zeros only, which have no inverse
    inverse = np.reciprocal(differences, out=differences)
    terms *= inverse
    trial.slope[some] = block.sums(terms)
    if p[0] >= ALL_STEPS:
        terms *= inverse
        trial.curvature[some] = block.sums(terms)
        trial.left[some], trial.right[some] = _neighbours(inverse, block.starts)


def _neighbours(inverse: FloatArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest positive and the smallest negative difference, both as distances.

    Takes inverse differences. Where there is none (a constant feature), 1 will do.
    """
    above, below = np.maximum.reduceat(inverse, starts), -np.minimum.reduceat(inverse, starts)
    return 1 / np.where(above > 0, above, 1.0), 1 / np.where(below > 0, below, 1.0)


def _newton_step(trial: _Trial) -> FloatArray:
    flat = trial.curvature == 0  # a constant feature
    return -trial.slope / np.where(flat, 1.0, trial.curvature)


def _step_below_2(trial: _Trial, p: FloatArray, least: FloatArray) -> FloatArray:
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


def _is_left_of_middle(trial: _Trial, q: FloatArray) -> BoolArray:
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
    with np.errstate(over="ignore"):
        most = np.minimum(goal / copies, power(goal / np.maximum(line, tiny), q))
    y = np.minimum(near, most)
    for _ in range(MODEL_ROUNDS):
        linear = line * power(y, 1 / q)
        y -= (copies * y + linear - goal) / (copies + linear / np.maximum(q * y, tiny))
        np.minimum(y, most, out=y)
    return power(y, 1 / q)


def _inside(centre: FloatArray, low: FloatArray, high: FloatArray) -> FloatArray:
    """Replace a trial at an end of the bracket, whose slope is known, by the bracket's middle."""
    return np.where((centre == low) | (centre == high), (low + high) / 2, centre)
