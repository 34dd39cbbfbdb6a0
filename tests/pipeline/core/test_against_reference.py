"""The core against tests/reference.py, step by step from the same state and as whole runs."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings

from pipeline.core import ImwkResult, imwk, minkowski_centre
from pipeline.core.centres import CENTRES
from pipeline.core.centres.methods import exact_centres
from pipeline.core.centres.slopes import Trial, evaluate
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import CentreMethod, Groups, Runs
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.weights import SMALL_DISPERSION, cluster_weights, pattern_weights
from tests import reference
from tests.strategies import HARD, WALKABLE, Case, cases

#: Decisions with a smaller relative margin may go either way by rounding.
MARGIN = 1e-6


@settings(max_examples=300)
@given(cases())
def test_centre_is_as_good_as_its_docstring_says(case: Case) -> None:
    difference = minkowski_centre(case.X, case.p) - reference.exact_centre(case.X, case.p)
    assert (np.abs(difference) <= 1e-7 * np.ptp(case.X, axis=0)).all()


HEAVY_TAILS: dict[str, Callable[[np.random.Generator], FloatArray]] = {
    "gamma": lambda rng: rng.gamma(0.1, size=(300, 20)),
    "lognormal": lambda rng: np.exp(4 * rng.normal(size=(300, 20))),
    "ninth powers": lambda rng: rng.normal(size=(300, 20)) ** 9,
    "most near 0": lambda rng: rng.normal(size=(300, 20)) * rng.choice([1e-6, 1], (300, 20)),
    "lattice": lambda rng: np.round(2 * rng.normal(size=(300, 20))),
    "bunches": lambda rng: bunches(rng, n=60, m=400),
}


def bunches(rng: np.random.Generator, n: int, m: int) -> FloatArray:
    """Draw values in few places, around which they are as close as no other data are."""
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
    """A step that rounds to an end of the bracket is no reason to end."""
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
    """Of the last two units the powers fit float32, but the cubes do not."""
    X = unit * np.random.default_rng(1).gamma(2, size=(300, 20))
    assert_good_in_float32(X.astype("float32"), p, share=1e-4)


@pytest.mark.parametrize(
    ("values", "p"),
    [([0, 0, -0.001, 1, 1, -0.02], 1.2), ([0.998, 0.48, 0.998, 1, 1], 1.3), ([0.5, 1, 1, 1], 1.07)],
)
def test_centre_in_float32_far_from_values_close_together(values: list[float], p: float) -> None:
    assert_good_in_float32(np.array(values, dtype="float32")[:, np.newaxis], p)


def assert_good_in_float32(X: FloatArray, p: float, share: float = 1e-3) -> None:
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
@pytest.mark.parametrize("find_centres", CENTRES.values(), ids=list(CENTRES))
@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("p", [1.0, 1.03, 1.5, 2.0, 3.0])
def test_a_lone_member_is_its_own_centre(p: float, dtype: str, find_centres: CentreMethod) -> None:
    counts = np.array([1, 3, 1, 1, 20, 1])
    columns = np.random.default_rng(1).normal(size=(4, counts.sum())).astype(dtype)
    centres, dispersions = find_centres(Groups(columns, counts), np.full(len(counts), p))
    alone = counts == 1
    assert (centres[:, alone] == columns[:, np.repeat(alone, counts)]).all()
    assert (dispersions[:, alone] == 0).all()
    assert (dispersions[:, ~alone] > 0).all()


@pytest.mark.usefixtures("as_public_functions_call")
@pytest.mark.parametrize("p", [1.0001, 1.1, 1.5, 2.5])
def test_the_search_ends_where_no_number_lies_between(p: float) -> None:
    """In float32 the bracket of a small range far from 0 soon is two neighbouring numbers."""
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

    def counting(runs: Runs, at: FloatArray, p: FloatArray) -> Trial:
        nonlocal evaluations
        evaluations += 1
        return evaluate(runs, at, p)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pipeline.core.centres.searches.evaluate", counting)
        exact_centres(Groups(columns, counts), np.full(len(counts), p))
    assert evaluations <= most


def halved_centre(X: FloatArray, p: float) -> FloatArray:
    """Find the root of the slope by halving its bracket 100 times, in extended precision."""
    values, q = X.astype(np.longdouble), np.longdouble(p) - 1
    low, high = values.min(axis=0), values.max(axis=0)
    for _ in range(100):
        middle = (low + high) / 2
        slope = (np.sign(middle - values) * np.abs(middle - values) ** q).sum(axis=0)
        low, high = np.where(slope < 0, middle, low), np.where(slope < 0, high, middle)
    return np.asarray(middle, dtype=np.float64)


@pytest.mark.parametrize("seed", range(30))
def test_fixed_step_centre_takes_the_same_walk(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, p = rng.gamma(2.0, size=(int(rng.integers(2, 80)), 5)) / 8, float(rng.uniform(1.2, 5))
    found = minkowski_centre(X, p, "fixed-step")
    np.testing.assert_allclose(found, reference.fixed_step_centre(X, p), rtol=0, atol=1e-12)


@settings(max_examples=300)
@given(cases())
def test_weights_from_the_same_dispersions(case: Case) -> None:
    D = np.array([reference.dispersions(case.X, x, case.p) for x in case.X[: case.k]])
    smoothed = D + (D.mean() or SMALL_DISPERSION)
    main = [reference.weights(row, case.p) for row in smoothed]
    one_lane, p = D.T[:, np.newaxis], np.array([case.p])
    found = cluster_weights(one_lane, np.array([len(D)]), p)[:, 0].T
    np.testing.assert_allclose(found, main, rtol=0, atol=1e-9)
    pattern = reference.weights(D[0] + SMALL_DISPERSION, case.p)
    found = pattern_weights(D[0][:, np.newaxis], p)[:, 0]
    np.testing.assert_allclose(found, pattern, rtol=0, atol=1e-9)


@settings(max_examples=300)
@given(cases())
def test_assignment_from_the_same_state(case: Case) -> None:
    run = imwk(case.X, case.k, case.p)
    expected, margins = reference.assign(case.X, run.centroids, run.weights, case.p)
    clear = margins > MARGIN
    found = nearest_clusters(case.X, run, case.p)
    np.testing.assert_array_equal(found[clear], expected[clear])


def nearest_clusters(X: FloatArray, run: ImwkResult, p: float) -> IntArray:
    """Assign the rows of `X` to the clusters of `run`, in one lane."""
    entities, centroids, weights = (
        part.T[:, np.newaxis] for part in (X, run.centroids, run.weights)
    )
    k = len(run.centroids)
    assignment = Assignment(entities, np.array([p]), np.array([k]), k)
    with zeros_have_powers():
        return np.asarray(assignment.update(centroids, weights)[0])


@settings(max_examples=300)
@given(cases())
def test_weights_are_a_distribution(case: Case) -> None:
    weights = imwk(case.X, case.k, case.p).weights
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(axis=1), 1, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("centre", "scales", "examples", "at_least"),
    [
        ("exact", HARD, 60, 20),
        ("fixed-step", WALKABLE, 25, 8),
        pytest.param("exact", HARD, 300, 120, marks=pytest.mark.slow),
        pytest.param("fixed-step", WALKABLE, 100, 40, marks=pytest.mark.slow),
    ],
)
def test_whole_runs_have_identical_labels(
    centre: str, scales: tuple[float, ...], examples: int, at_least: int
) -> None:
    decided = 0

    @settings(max_examples=examples)
    @given(cases(scales))
    def compare(case: Case) -> None:
        nonlocal decided
        expected = reference.imwk(case.X, case.k, case.p, centre)
        found = imwk(case.X, case.k, case.p, centre)
        if expected.margin <= MARGIN:
            return
        decided += 1
        np.testing.assert_array_equal(found.labels, expected.labels)
        assert found.patterns == expected.patterns
        assert found.n_clusters == expected.n_clusters
        assert found.converged == expected.converged
        assert found.iterations == expected.iterations

    compare()
    print(f"{centre}: {decided} of {examples} data sets with every margin above {MARGIN:g}")
    assert decided >= at_least
