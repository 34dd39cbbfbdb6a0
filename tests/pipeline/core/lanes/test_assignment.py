"""Bounds that are carried from round to round save distances, and never change a label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core.lanes.assignment import Assignment
from pipeline.core.lanes.pairs import Pairs
from pipeline.core.minkowski import power, weighted_powers
from pipeline.core.types import Float32Array, Float64Array, FloatArray, IntArray
from tests.strategies import exponents

pytestmark = pytest.mark.usefixtures("as_public_functions_call")

DTYPES = st.sampled_from([np.float64, np.float32])


def clusters_that_settle(
    rng: np.random.Generator,
    shape: tuple[int, int, int],
    rounds: int,
    lattice: bool,
    spread: float = 3.0,
) -> list[tuple[Float64Array, Float64Array]]:
    """Return centroids and weights (m, lanes, k) that change less and less.

    `spread` sets how different the weights are.
    """
    centroids, logs = rng.normal(size=shape), spread * rng.normal(size=shape)
    states = []
    for round_ in range(rounds):
        weights = np.exp(logs) / np.exp(logs).sum(axis=0)
        states.append((np.round(centroids, 1) if lattice else centroids, weights))
        centroids = centroids + rng.normal(size=shape) / 4**round_
        logs = logs + spread / 3 * rng.normal(size=shape) / 4**round_
    return states


@settings(max_examples=300)
@given(
    seed=st.integers(0, 2**32 - 1),
    p=st.lists(exponents, min_size=1, max_size=4),
    shape=st.tuples(st.integers(1, 5), st.integers(1, 30), st.integers(1, 6)),
    dtype=DTYPES,
    lattice=st.booleans(),
    size=st.sampled_from([1.0, 1.0, 1e-4, 1e6]),
    spread=st.sampled_from([3.0, 3.0, 30.0]),
)
def test_labels_equal_those_of_all_distances(
    seed: int,
    p: list[float],
    shape: tuple[int, int, int],
    dtype: type,
    lattice: bool,
    size: float,
    spread: float,
) -> None:
    m, n, k = shape
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(m, len(p), n))
    X: FloatArray = (size * (np.round(data, 1) if lattice else data)).astype(dtype)
    clusters = rng.integers(1, k + 1, size=len(p))
    carried = Assignment(X, np.array(p), clusters, k)
    for z, weights in clusters_that_settle(rng, (m, len(p), k), 6, lattice, spread):
        centroids = (size * z).astype(dtype).astype(np.float64)
        expected = [
            nearest_of_all(X[:, lane], centroids[:, lane, :own], weights[:, lane, :own], p[lane])
            for lane, own in enumerate(clusters)
        ]
        np.testing.assert_array_equal(carried.update(centroids, weights), expected)


def nearest_of_all(
    X: FloatArray, centroids: Float64Array, weights: Float64Array, p: float
) -> IntArray:
    """Compare an entity of one lane, (m, n), with every cluster; the first of the nearest wins."""
    exponent, count = np.array([p]), np.array([X.shape[1]])
    z, w = centroids.astype(X.dtype), power(weights, exponent).astype(X.dtype)
    table = [
        weighted_powers(X, slice(None), z[:, c : c + 1], w[:, c : c + 1], exponent, count)
        for c in range(centroids.shape[1])
    ]
    return np.asarray(np.argmin(table, axis=0))


def test_few_distances_are_computed_once_clusters_hardly_move(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(1)
    X, p = rng.normal(size=(4, 2, 500)), np.array([1.5, 3.0])
    assignment = Assignment(X, p, np.array([8, 8]), 8)
    estimated: list[int] = []
    estimate = Assignment._estimate

    def counting(self: Assignment, pairs: Pairs) -> tuple[Float32Array, Float32Array]:
        estimated.append(len(pairs.places))
        return estimate(self, pairs)

    monkeypatch.setattr(Assignment, "_estimate", counting)
    states = clusters_that_settle(rng, (4, 2, 8), 12, lattice=False)
    counts = []
    for centroids, weights in states:
        estimated.clear()
        assignment.update(centroids, weights)
        counts.append(sum(estimated))
    assert counts[0] == X.shape[1] * X.shape[2] * 8
    assert counts[-1] < counts[0] / 100


def test_an_entity_follows_a_weight_that_was_zero() -> None:
    """At p = 1 one feature has all the weight: a distance of 0 tells nothing of the others."""
    X = np.array([[[0.0, 0.0]], [[0.0, 1.0]]])
    assignment = Assignment(X, np.array([1.0]), np.array([2]), 2)
    centroids = np.array([[[0.0, 0.1]], [[0.0, 1.0]]])
    first, second = np.array([[[1.0, 1.0]], [[0.0, 0.0]]]), np.array([[[0.0, 0.0]], [[1.0, 1.0]]])
    assert assignment.update(centroids, first).tolist() == [[0, 0]]
    assert assignment.update(centroids, second).tolist() == [[0, 1]]
