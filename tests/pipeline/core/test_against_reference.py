"""The core against tests/reference.py, step by step from the same state and as whole runs."""

import numpy as np
import pytest
from hypothesis import given, settings

from pipeline.core import ImwkResult, imwk
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.weights import SMALL_DISPERSION, cluster_weights, pattern_weights
from tests import reference
from tests.strategies import HARD, WALKABLE, Case, cases

#: Decisions with a smaller relative margin may go either way by rounding.
MARGIN = 1e-6


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


def nearest_clusters(X: Float64Array, run: ImwkResult, p: float) -> IntArray:
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
        assert min(case.k, expected.patterns) <= found.patterns <= expected.patterns
        assert found.n_clusters == expected.n_clusters
        assert found.converged == expected.converged
        assert found.iterations == expected.iterations

    compare()
    print(f"{centre}: {decided} of {examples} data sets with every margin above {MARGIN:g}")
    assert decided >= at_least
