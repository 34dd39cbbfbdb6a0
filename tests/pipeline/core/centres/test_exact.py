"""Exact centres are as good as promised, whatever the data look like."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from pipeline.core import minkowski_centre
from pipeline.core.centres.dispatch import exact_centres
from pipeline.core.centres.searches import GapSearch, HalvingSearch, NewtonSearch
from pipeline.core.centres.slopes import Trial
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import Groups, Segments
from pipeline.core.types import Float32Array, Float64Array, FloatArray
from tests import reference
from tests.strategies import Case, cases


@settings(max_examples=300)
@given(cases())
def test_centre_is_as_good_as_its_docstring_says(case: Case) -> None:
    difference = minkowski_centre(case.X, case.p) - reference.exact_centre(case.X, case.p)
    assert (np.abs(difference) <= 1e-7 * np.ptp(case.X, axis=0)).all()


HEAVY_TAILS: dict[str, Callable[[np.random.Generator], Float64Array]] = {
    "gamma": lambda rng: rng.gamma(0.1, size=(300, 20)),
    "lognormal": lambda rng: np.exp(4 * rng.normal(size=(300, 20))),
    "ninth powers": lambda rng: rng.normal(size=(300, 20)) ** 9,
    "most near 0": lambda rng: rng.normal(size=(300, 20)) * rng.choice([1e-6, 1], (300, 20)),
    "lattice": lambda rng: np.round(2 * rng.normal(size=(300, 20))),
    "bunches": lambda rng: bunches(rng, n=60, m=400),
}


def bunches(rng: np.random.Generator, n: int, m: int) -> Float64Array:
    """Draw values in few places, much closer to their place than the places are to each other."""
    places = np.take_along_axis(rng.normal(size=(4, m)), rng.integers(0, 4, size=(n, m)), axis=0)
    return places + 10 ** rng.uniform(-7, -2, size=m) * rng.normal(size=(n, m))


@pytest.mark.parametrize("p", [1.07, 1.1, 1.2, 1.3, 1.5, 1.7, 1.9, 2.1, 5.0])
@pytest.mark.parametrize("data", HEAVY_TAILS)
def test_centre_is_as_good_among_values_of_many_sizes(data: str, p: float) -> None:
    """Data values close to the trial hide what lies beyond them."""
    X = HEAVY_TAILS[data](np.random.default_rng(1))
    error = np.abs(minkowski_centre(X, p) - halved_centre(X, p))
    assert (error <= 1e-7 * np.ptp(X, axis=0)).all()


@pytest.mark.parametrize("n", range(3, 9))
def test_centre_is_as_good_where_numbers_are_far_apart(n: int) -> None:
    """A step that rounds to an end of the bracket must not end the search."""
    X = 10_000 + np.random.default_rng(n).choice([0, 0.5, 1], size=(n, 200))
    X[:2] = [[10_000], [10_001]]
    assert np.abs(minkowski_centre(X, 1.07) - halved_centre(X, 1.07)).max() <= 1e-7


@pytest.mark.parametrize("p", [1.03, 1.07, 1.2, 1.5, 1.9, 2.1, 3.3, 5.0])
@pytest.mark.parametrize("data", HEAVY_TAILS)
def test_centre_in_float32_is_as_good_as_its_docstring_says(data: str, p: float) -> None:
    X = HEAVY_TAILS[data](np.random.default_rng(1)).astype("float32")
    assert_good_in_float32(X, p)


@pytest.mark.parametrize(
    ("p", "unit"),
    [*[(p, 1.0) for p in (1.03, 1.2, 1.5, 1.9, 2.1, 3.3, 5.0, 12.0)], (2.1, 1e-15), (2.1, 1e15)],
)
def test_centre_in_float32_of_mild_data_is_good_to_a_ten_thousandth(p: float, unit: float) -> None:
    """In the last two units the powers fit into float32, but the cubes do not."""
    X = unit * np.random.default_rng(1).gamma(2, size=(300, 20))
    assert_good_in_float32(X.astype("float32"), p, share=1e-4)


@pytest.mark.parametrize(
    ("values", "p"),
    [([0, 0, -0.001, 1, 1, -0.02], 1.2), ([0.998, 0.48, 0.998, 1, 1], 1.3), ([0.5, 1, 1, 1], 1.07)],
)
def test_centre_in_float32_far_from_values_close_together(values: list[float], p: float) -> None:
    assert_good_in_float32(np.array(values, dtype="float32")[:, np.newaxis], p)


def assert_good_in_float32(X: Float32Array, p: float, share: float = 1e-3) -> None:
    groups = Groups(np.ascontiguousarray(X.T), np.array([len(X)]))
    with zeros_have_powers():
        found = exact_centres(groups, np.array([p])).centres[:, 0]
    exact = halved_centre(X.astype("float64"), p)
    assert (np.abs(found - exact) <= share * np.ptp(X, axis=0)).all()


@pytest.mark.usefixtures("as_public_functions_call")
@pytest.mark.parametrize(("dtype", "share"), [("float64", 1e-9), ("float32", 1e-3)])
@pytest.mark.parametrize("p", [1.03, 1.07, 1.1, 1.3, 1.7, 2.0, 2.4, 5.0])
def test_dispersions_are_those_at_the_centre(p: float, dtype: str, share: float) -> None:
    """One outlier makes the range so wide that all others lie within a small share of it."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.gamma(2, size=(3000, 3)), 1e-4 * rng.normal(size=(3000, 3))])
    X[0] = 1
    columns: FloatArray = np.ascontiguousarray(X.T).astype(dtype)
    found = exact_centres(Groups(columns, np.array([len(X)])), np.array([p])).dispersions[:, 0]
    exact = columns.T.astype("float64")
    expected = (np.abs(exact - halved_centre(exact, p)) ** p).sum(axis=0)
    np.testing.assert_allclose(found, expected, rtol=share)


@pytest.mark.usefixtures("as_public_functions_call")
@pytest.mark.parametrize("p", [1.0001, 1.1, 1.5, 2.5])
def test_the_search_ends_where_no_number_lies_between(p: float) -> None:
    """In float32 the bracket of a small range far from 0 soon becomes two neighbouring numbers."""
    for values in ([0.46909073, 0.48056906], [1000.0, 1000.0001, 1000.0002], [1.0, 1.0000001]):
        X: FloatArray = np.array([values]).astype("float32")
        found = exact_centres(Groups(X, np.array([X.size])), np.array([p])).centres[0, 0]
        assert X.min() <= found <= X.max()


@pytest.mark.usefixtures("as_public_functions_call")
@pytest.mark.parametrize(("p", "most"), [(1.1, 15), (1.3, 12), (1.9, 6), (5.0, 8)])
def test_no_search_goes_back_and_forth_between_the_ends_of_its_bracket(p: float, most: int) -> None:
    """The longest of 4000 searches, both stages together, takes no more evaluations than this."""
    counts = np.random.default_rng(1).integers(2, 200, size=200)
    columns = np.random.default_rng(2).normal(size=(20, counts.sum()))
    evaluations = 0
    with pytest.MonkeyPatch.context() as patch:
        for search in (HalvingSearch, NewtonSearch, GapSearch):
            evaluate = search.evaluate

            def counting(
                segments: Segments,
                at: FloatArray,
                p: Float64Array,
                evaluate: Callable[[Segments, FloatArray, Float64Array], Trial] = evaluate,
            ) -> Trial:
                nonlocal evaluations
                evaluations += 1
                return evaluate(segments, at, p)

            patch.setattr(search, "evaluate", staticmethod(counting))
        exact_centres(Groups(columns, counts), np.full(len(counts), p))
    assert 0 < evaluations <= most


def halved_centre(X: Float64Array, p: float) -> Float64Array:
    """Find the root of the slope by halving its bracket 100 times, in extended precision."""
    values, q = X.astype(np.longdouble), np.longdouble(p) - 1
    low, high = values.min(axis=0), values.max(axis=0)
    for _ in range(100):
        middle = (low + high) / 2
        slope = (np.sign(middle - values) * np.abs(middle - values) ** q).sum(axis=0)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.asarray(middle, dtype=np.float64)
