"""The model of the slope below p = 2, and how its root is found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.centres.gap_model import (
    MODEL_ROUNDS,
    fit_gap_model,
    solve_power_plus_line,
    step_to_model_root,
)
from pipeline.core.centres.slopes import Trial, slopes_below_2
from pipeline.core.segments import Segments
from pipeline.core.types import Float64Array

pytestmark = pytest.mark.usefixtures("as_public_functions_call")

EXPONENTS = [1.06, 1.1, 1.3, 1.5, 1.9, 1.99]
NOT_NEAR = np.zeros(1)


def trial_at(values: list[float], centre: float, p: float) -> Trial:
    segments = Segments(np.array(values), np.array([len(values)]))
    return slopes_below_2(segments, np.array([centre]), np.array([p]))


def one(value: float) -> Float64Array:
    return np.array([value])


@pytest.mark.parametrize("q", [0.06, 0.3, 0.5, 0.99])
def test_a_power_alone_is_solved_exactly(q: float) -> None:
    x = solve_power_plus_line(one(3.0), one(0.0), one(0.6), one(q), one(1e-3))
    np.testing.assert_allclose(x, (0.6 / 3.0) ** (1 / q), rtol=1e-12)


@given(
    copies=st.integers(1, 5),
    line=st.floats(0, 1e3),
    x=st.floats(1e-3, 1e3),
    q=st.floats(0.06, 0.99),
)
def test_a_start_at_the_root_stays_there(copies: int, line: float, x: float, q: float) -> None:
    goal = copies * x**q + line * x
    found = solve_power_plus_line(one(copies), one(line), one(goal), one(q), one(x**q))
    np.testing.assert_allclose(found, x, rtol=1e-9)


@given(
    copies=st.integers(1, 5),
    line=st.floats(0, 1e3),
    x=st.floats(1e-3, 1e3),
    q=st.floats(0.06, 0.99),
    away=st.floats(1e-6, 1e6),
)
def test_the_root_is_approached_from_above(
    copies: int, line: float, x: float, q: float, away: float
) -> None:
    """The model is convex, and no term alone may exceed the goal."""
    goal = copies * x**q + line * x
    found = solve_power_plus_line(one(copies), one(line), one(goal), one(q), one(away * x**q))[0]
    assert found >= x * (1 - 1e-9)
    assert copies * found**q <= goal * (1 + 1e-9)
    assert line * found <= goal * (1 + 1e-9)


def test_a_near_start_is_close_after_the_rounds_allowed() -> None:
    x, q = 0.4, 0.3
    goal = 2 * x**q + 5 * x
    errors = [
        abs(solve_power_plus_line(one(2), one(5), one(goal), one(q), one((x + away) ** q))[0] - x)
        for away in (0.1, 0.01)
    ]
    assert MODEL_ROUNDS == 2
    assert errors[0] < 1e-3
    assert errors[1] < 1e-7


def test_a_goal_beyond_all_numbers_gives_no_finite_distance() -> None:
    found = solve_power_plus_line(one(1.0), one(0.0), one(1e300), one(0.06), one(1.0))
    assert not np.isfinite(found).any()


@pytest.mark.parametrize("p", EXPONENTS)
@given(seed=st.integers(0, 10_000))
def test_the_model_has_the_slope_and_the_curvature_of_the_trial(p: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.normal(size=12).tolist()
    trial, q = trial_at(values, float(rng.normal(scale=0.3)), p), one(p - 1)
    model = fit_gap_model(trial, q)
    slope = model.copies * model.own + model.line * model.offset + model.rest
    np.testing.assert_allclose(slope, trial.slope, rtol=1e-9, atol=1e-12)
    own_curvature = q * np.abs(model.offset) ** (q - 1)
    linear = model.line > 0  # elsewhere rounding would make it negative
    curvature = model.copies * own_curvature + model.line
    np.testing.assert_allclose(curvature[linear], trial.curvature[linear], rtol=1e-9)


@pytest.mark.parametrize("p", [1.06, 1.1, 1.3, 1.5])  # above, the others count as much
@pytest.mark.parametrize("copies", [1, 2, 7])
def test_copies_of_the_neighbour_are_counted_close_to_it(copies: int, p: float) -> None:
    trial = trial_at([0.0] * copies + [-3.0, 2.0, 5.0], 1e-7, p)
    assert fit_gap_model(trial, one(p - 1)).copies == copies


@pytest.mark.parametrize("p", EXPONENTS)
@pytest.mark.parametrize("at", [0.3, 0.5, 0.6])
def test_the_middle_of_two_values_is_found(p: float, at: float) -> None:
    """From any trial between 0 and 1, whose centre is 0.5 by symmetry."""
    step = step_to_model_root(trial_at([0.0, 1.0], at, p), one(p), NOT_NEAR)
    assert abs(at + step[0] - 0.5) <= 0.6 * abs(at - 0.5) + 1e-12


@pytest.mark.parametrize("p", EXPONENTS)
def test_the_step_crosses_to_the_side_of_the_neighbour_where_the_root_is(p: float) -> None:
    """The root is left of 0, where most values are, but Newton's step would stay right of it."""
    values = [0.0, -1.0, -1.1, -1.2, 1.0]
    trial = trial_at(values, 1e-3, p)
    step = step_to_model_root(trial, one(p), NOT_NEAR)[0]
    assert trial.slope[0] > 0
    assert 1e-3 + step < 0


@pytest.mark.parametrize("least", [0.0, 1e-6, 1e-3])
def test_the_step_ends_at_the_least_distance_from_the_neighbour(least: float) -> None:
    """The root is at 0, where three values lie."""
    trial = trial_at([0.0, 0.0, 0.0, -1.0, 1.0], 1e-4, 1.3)
    to = 1e-4 + step_to_model_root(trial, one(1.3), one(least))[0]
    assert abs(to) == pytest.approx(least, abs=1e-9)
