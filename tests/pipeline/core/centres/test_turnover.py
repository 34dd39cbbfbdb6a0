"""Where a search starts changes its centre by no more than the tolerance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.centres import Minima, Starts, Turnover, likely_starts
from pipeline.core.centres.dispatch import exact_centres
from pipeline.core.centres.searches import NewtonSearch
from pipeline.core.centres.turnover import follow
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array
from tests import reference
from tests.strategies import tables

pytestmark = pytest.mark.usefixtures("as_public_functions_call")


@settings(max_examples=200)
@given(tables(), st.floats(1.07, 5.0), st.integers(0, 2**32 - 1))
def test_centre_is_as_good_wherever_the_search_starts(X: Float64Array, p: float, seed: int) -> None:
    """Starts are in the range or not, and so are the places where the curvature is known."""
    rng, (n, m) = np.random.default_rng(seed), X.shape
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    near, at = (low + span * rng.uniform(-0.2, 1.2, size=m) for _ in range(2))
    near[rng.random(m) < 0.2] = np.nan
    curvature = ((p - 1) * np.abs(X - at) ** max(p - 2, 0)).sum(axis=0)
    known = Minima(at[:, np.newaxis], curvature[:, np.newaxis])
    with zeros_have_powers():
        starts = Starts(near[:, np.newaxis], known)
        groups = Groups(np.ascontiguousarray(X.T), np.array([n]))
        found = exact_centres(groups, np.array([p]), starts).centres[:, 0]
    assert (np.abs(found - reference.exact_centre(X, p)) <= 1e-7 * span).all()


@pytest.mark.parametrize("p", [2.1, 2.5, 3.0, 4.7])
def test_a_start_is_newtons_step_from_the_last_minimum(p: float) -> None:
    rng = np.random.default_rng(3)
    before, joined = rng.gamma(2, size=(3, 80)), rng.gamma(2, size=(3, 5))
    left, exponents = before[:, :4], np.array([p])
    minima = exact_centres(Groups(before, np.array([80])), exponents).minima
    turnover = Turnover(
        Groups(np.hstack([joined, left]), np.array([9])), np.repeat([1.0, -1.0], [5, 4])
    )
    starts = follow(minima, turnover, exponents)
    now = np.hstack([before[:, 4:], joined])
    differences = minima.at - now
    sizes = np.abs(differences) ** (p - 2)
    curvature = (p - 1) * sizes.sum(axis=1)
    expected = minima.at[:, 0] - (sizes * differences).sum(axis=1) / curvature
    np.testing.assert_allclose(starts.near[:, 0], expected, rtol=1e-6)
    np.testing.assert_allclose(starts.known.curvature[:, 0], curvature, rtol=1e-4)


def test_a_good_start_takes_fewer_evaluations(monkeypatch: pytest.MonkeyPatch) -> None:
    rng, p, evaluated = np.random.default_rng(4), np.full(5, 3.3), [0]
    columns, counts = rng.normal(size=(6, 500)), np.full(5, 100)
    evaluate = NewtonSearch.evaluate

    def counting(*arguments: object) -> object:
        evaluated[0] += 1
        return evaluate(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(NewtonSearch, "evaluate", staticmethod(counting))
    groups = Groups(columns, counts)
    cold = exact_centres(groups, p)
    taken, evaluated[0] = evaluated[0], 0
    near = cold.centres + 1e-6
    warm = exact_centres(groups, p, Starts(near, Minima(near, cold.minima.curvature)))
    assert evaluated[0] == 1 < taken
    np.testing.assert_allclose(warm.centres, cold.centres, rtol=0, atol=1e-9)


def test_groups_without_a_known_minimum_get_no_start() -> None:
    at = np.array([[0.1, np.nan, 0.3]])
    minima, p = Minima(at, np.full_like(at, 10.0)), np.full(3, 3.0)

    def turnover(known: BoolArray) -> Turnover:
        assert known.tolist() == [True, False, True]
        return Turnover(Groups(np.array([[1.0, 2.0]]), np.array([1, 1])), np.array([1.0, -1.0]))

    starts = likely_starts(minima, p, turnover)
    assert starts is not None
    assert np.isfinite(starts.near[0]).tolist() == [True, False, True]
    assert starts.near[0, 0] > 0.1  # towards the one that joined
    assert starts.near[0, 2] < 0.3  # away from the one that left
    assert likely_starts(Minima.unknown(at), p, turnover) is None


@pytest.mark.parametrize("p", [2.5, 60.0])
def test_a_search_that_comes_to_halving_its_bracket_ends_at_the_centre(p: float) -> None:
    """With few steps of its own kind, which a search uses up only for very large exponents."""
    rng = np.random.default_rng(5)
    columns, counts = rng.gamma(2, size=(4, 60)), np.array([20, 40])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.core.centres.searches.MANY_STEPS", 1)
        halved = exact_centres(Groups(columns, counts), np.full(2, p)).centres
    expected = np.column_stack(
        [reference.exact_centre(part.T, p) for part in np.split(columns, [20], axis=1)]
    )
    np.testing.assert_allclose(halved, expected, rtol=0, atol=1e-6)
