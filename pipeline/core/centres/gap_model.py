"""A model of the slope below p = 2, where Newton's method stalls.

With q = p - 1, a data value at v adds ``sign(mu - v) |mu - v| ** q`` to the slope at mu, which is
infinitely steep at v itself. In the gap between two neighbouring data values the model takes one of
them, the *neighbour*, as it is, and all others as a line. At a distance x from the neighbour ::

    slope = +- (copies x ** q + line x) + rest

where `copies` data values lie at the neighbour, `line` is the rise of the others, and `rest` is
the slope of the others at the neighbour. The root of the model has ::

    copies x ** q + line x = |rest|
"""

from typing import NamedTuple

import numpy as np

from pipeline.core.centres.slopes import Trial
from pipeline.core.minkowski import power
from pipeline.core.types import BoolArray, Float64Array, FloatArray

#: Rounds of Newton's method for the root of the model: more would save no evaluation of the slope.
MODEL_ROUNDS = 2


class GapModel(NamedTuple):
    """The slope in the gap around each trial; all arrays are (searches,).

    Attributes
    ----------
    offset
        Trial centre minus neighbour.
    own
        What one copy of the neighbour adds to the slope at the trial, ``+- |offset| ** q``.
    copies, line, rest
        See the module's text.
    """

    offset: FloatArray
    own: FloatArray
    copies: FloatArray
    line: FloatArray
    rest: FloatArray


def step_to_model_root(trial: Trial, p: Float64Array, least: FloatArray) -> FloatArray:
    """Return the step from each trial to the root of its model.

    The step ends at a distance of at least `least` from the neighbour: a trial on a data value
    would tell nothing of that value's own slope.
    """
    q = (p - 1).astype(trial.slope.dtype)
    model = fit_gap_model(trial, q)
    distance = solve_power_plus_line(
        model.copies, model.line, np.abs(model.rest), q, np.abs(model.own)
    )
    from_neighbour = -np.sign(model.rest) * np.maximum(distance, least)
    return np.asarray(from_neighbour - model.offset)


def fit_gap_model(trial: Trial, q: FloatArray) -> GapModel:
    """Fit the model to the slope and the curvature of each trial."""
    offset = np.where(_root_is_left_of_middle(trial, q), trial.left, -trial.right)
    apart = np.abs(offset) > 2 * np.finfo(offset.dtype).tiny
    own = np.where(apart, np.sign(offset) * power(np.abs(offset), q), 0.0)
    own_curvature = q * own / np.where(apart, offset, 1.0)
    copies = _whole_copies(trial.curvature / np.where(apart, own_curvature, np.inf))
    line = np.maximum(trial.curvature - copies * own_curvature, 0.0)
    return GapModel(offset, own, copies, line, trial.slope - copies * own - line * offset)


def _root_is_left_of_middle(trial: Trial, q: FloatArray) -> BoolArray:
    """Return whether the root is in the left half of the gap, if all other values are linear."""
    without_neighbours = trial.slope - power(trial.left, q) + power(trial.right, q)
    to_middle = (trial.right - trial.left) / 2
    return np.asarray(without_neighbours + trial.curvature * to_middle >= 0)


def _whole_copies(share: FloatArray) -> FloatArray:
    """Return how often the neighbour occurs, from the curvature in units of one copy's.

    That share is near a whole number only close to the neighbour, where the number matters.
    """
    whole = np.rint(share)
    return np.where((np.abs(share - whole) < 0.01) & (whole >= 1), whole, 1.0)


def solve_power_plus_line(
    copies: FloatArray, line: FloatArray, goal: FloatArray, q: FloatArray, start: FloatArray
) -> FloatArray:
    """Return x with ``copies x ** q + line x = goal``, by Newton's method for y = x ** q.

    Both terms are convex in y, so that Newton's method approaches the root from above, from its
    first round on. It starts from y = `start`, the value at the trial, so that a trial at the root
    stays there. Where numbers overflow, x is infinite or NaN, and the search halves its bracket.
    """
    tiny = np.finfo(goal.dtype).tiny
    with np.errstate(over="ignore", invalid="ignore"):
        # Each term alone must not exceed the goal.
        most = np.minimum(goal / copies, power(goal / np.maximum(line, tiny), q))
        y = np.minimum(start, most)
        for _ in range(MODEL_ROUNDS):
            linear = line * power(y, 1 / q)
            y -= (copies * y + linear - goal) / (copies + linear / np.maximum(q * y, tiny))
            np.minimum(y, most, out=y)
        return power(y, 1 / q)
