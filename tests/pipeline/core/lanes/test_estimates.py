"""The error bounds of estimates in float32 hold: otherwise a label could depend on them."""

from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.lanes.estimates import (
    ROUNDING,
    distance_bounds,
    open_margins,
    rough_exponents,
    scales,
)
from pipeline.core.minkowski import power, weighted_powers, weighted_sum
from pipeline.core.types import Float32Array, Float64Array, FloatArray

pytestmark = pytest.mark.usefixtures("as_public_functions_call")

#: Exact distances come from extended precision, where NumPy has it.
EXACT = np.longdouble


class Comparison(NamedTuple):
    """Entities, two points and weights, with an exponent, in units of the data's scale."""

    X: Float64Array
    points: Float64Array
    weights: Float64Array
    p: float


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    m, n = draw(st.integers(1, 8)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    size = 10.0 ** draw(st.sampled_from([-6, -2, 0, 2]))
    X, points = size * rng.normal(size=(m, n)), size * rng.normal(size=(m, 2))
    if draw(st.booleans()):  # next to a tie
        points[:, 1] = points[:, 0] * (1 + 10.0 ** -draw(st.integers(3, 9)))
    logs = draw(st.sampled_from([0.1, 3.0, 30.0])) * rng.normal(size=(m, 1))
    weights = np.exp(logs - logs.max())
    scale = scales(np.column_stack([X, points])[:, np.newaxis])[0]
    p = draw(st.sampled_from([1.0, 1.1, 1.9, 2.0, 3.3, 5.0, 20.0, 99.0, 150.0]))
    return Comparison(X / scale, points / scale, weights / weights.sum(), p)


def exact_distances(case: Comparison, point: int) -> FloatArray:
    """Return ``||w (x - z)||_p``, with the largest term taken out so that no power vanishes."""
    terms = case.weights * np.abs(case.X - case.points[:, point : point + 1])
    terms = terms.astype(EXACT)
    largest = np.maximum(terms.max(axis=0), np.finfo(EXACT).tiny)
    return np.asarray(largest * ((terms / largest) ** case.p).sum(axis=0) ** (1 / EXACT(case.p)))


def estimated_powers(case: Comparison, point: int) -> Float32Array:
    single = np.float32
    return weighted_powers(
        case.X.astype(single),
        slice(None),
        case.points[:, point : point + 1].astype(single),
        single_weights(case),
        rough_exponents(np.array([case.p])),
        np.array([case.X.shape[1]]),
    )


def single_weights(case: Comparison) -> Float32Array:
    return power(case.weights, np.array([case.p])).astype(np.float32)


@settings(max_examples=500)
@given(comparisons())
def test_the_exact_distance_is_within_the_bounds(case: Comparison) -> None:
    p, counts = np.array([case.p]), np.array([case.X.shape[1]])
    low, high = distance_bounds(
        estimated_powers(case, 0), p, single_weights(case), counts, np.ones(1), ROUNDING
    )
    exact = exact_distances(case, 0)
    assert (low <= exact).all()
    assert (exact <= high).all()


@settings(max_examples=500)
@given(comparisons(), st.sampled_from([1e-4, 1.0, 1e6]))
def test_the_exact_distance_of_float32_data_of_any_size_is_within_the_bounds(
    case: Comparison, size: float
) -> None:
    exponents, single = np.array([min(case.p, 5.0)]), np.float32
    X, points = ((size * part).astype(single) for part in (case.X, case.points))
    heaviest = case.weights[:, 0].argmax()
    X[heaviest] = points[heaviest, 0]  # so that powers that vanish because of small weights matter
    case = Comparison(X.astype(float), points.astype(float), case.weights, float(exponents[0]))
    reach = np.maximum(np.abs(X).max(), 1.0)[np.newaxis]
    counts = np.array([X.shape[1]])
    low, high = distance_bounds(
        estimated_powers(case, 0), exponents, single_weights(case), counts, reach, 0.0
    )
    assert (low <= exact_distances(case, 0)).all()
    assert (exact_distances(case, 0) <= high).all()


@settings(max_examples=500)
@given(comparisons())
def test_clear_comparisons_are_right(case: Comparison) -> None:
    p = np.array([case.p])
    one, other = estimated_powers(case, 0), estimated_powers(case, 1)
    relative, absolute = open_margins(p, single_weights(case))
    lead = other - one
    clear = np.abs(lead) > relative * (one + other) + absolute
    nearer = exact_distances(case, 0) < exact_distances(case, 1)
    np.testing.assert_array_equal(lead[clear] > 0, nearer[clear])


def test_most_comparisons_are_clear() -> None:
    rng = np.random.default_rng(1)
    X, points = rng.uniform(-0.5, 0.5, size=(10, 1000)), rng.uniform(-0.5, 0.5, size=(10, 2))
    weights = np.full((10, 1), 0.1)
    for p in (1.1, 2.0, 5.0):
        case = Comparison(X, points, weights, p)
        one, other = estimated_powers(case, 0), estimated_powers(case, 1)
        margins = open_margins(np.array([p]), single_weights(case))
        clear = np.abs(one - other) > margins[0] * (one + other) + margins[1]
        assert clear.mean() > 0.95


def test_bounds_allow_for_many_features() -> None:
    """The rounding errors of a sum of equal terms have one sign, and add up."""
    m = 20_000
    X, points, weights = np.full((m, 1), 0.1), np.zeros((m, 2)), np.full((m, 1), 1 / m)
    case = Comparison(X, points, weights, 1.0)
    p, counts = np.array([1.0]), np.array([1])
    low, high = distance_bounds(
        estimated_powers(case, 0), p, single_weights(case), counts, np.ones(1), ROUNDING
    )
    assert (low <= exact_distances(case, 0)).all()
    assert (exact_distances(case, 0) <= high).all()


def test_weighted_sum_adds_up_features() -> None:
    X = np.arange(12.0).reshape(3, 4)
    weights = np.array([[1.0, 2.0], [10.0, 0.0], [0.0, 1.0]])
    found = weighted_sum(X, slice(1, 4), weights, np.array([2, 1]))
    np.testing.assert_array_equal(found, [1 + 50, 2 + 60, 2 * 3 + 11])


def test_weighted_powers_are_compared_feature_by_feature() -> None:
    X, to_centre = np.array([[1.0, 4.0, 6.0], [0.0, 2.0, 2.0]]), np.array([[1.0] * 3, [9.0] * 3])
    weights, centroids = np.array([[1.0, 10.0], [0.5, 0.0]]), np.array([[2.0, 5.0], [2.0, 0.0]])
    p, counts = np.array([2.0, 2.0]), np.array([2, 1])
    found = weighted_powers(X, slice(None), centroids, weights, p, counts, minus=to_centre)
    np.testing.assert_allclose(found, [0 - 5 * 0.5, 3 - 9 * 0.5, 0.0], atol=1e-12)
