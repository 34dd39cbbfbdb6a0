"""Behaviour of whole runs that can be checked without a reference."""

from collections.abc import Iterable
from dataclasses import fields
from importlib import import_module
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.core import (
    ImwkError,
    ImwkResult,
    adjusted_rand_index,
    imwk,
    imwk_grid,
    normalise,
    rescale,
)
from pipeline.core.centres import CENTRES
from pipeline.core.imwk import DTYPES, Lane, run_lanes
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.types import Float64Array
from pipeline.datasets import synthetic_dataset
from tests import reference
from tests.strategies import Case, cases, exponents

EDGE_EXPONENTS = [1.0, 1.0001, 1.5, 2.0, 20.0]

EDGE_DATA: dict[str, Float64Array] = {
    "a single entity": np.array([[0.3, 0.7]]),
    "a single feature": np.array([[0.0], [0.1], [0.9], [1.0]]),
    "identical rows": np.full((6, 2), 0.1),
    "duplicate rows": np.repeat([[0.1, 0.7], [0.9, 0.2]], 4, axis=0),
    "a constant feature": np.column_stack([np.linspace(0, 1, 9), np.full(9, 0.1)]),
    "zeros": np.zeros((5, 3)),
    "tiny values": np.random.default_rng(1).normal(size=(9, 3)) * 1e-9,
    "large values": np.random.default_rng(1).normal(size=(9, 3)) * 1e9,
    "continuous": np.random.default_rng(2).normal(size=(30, 4)),
    "one-hot": np.eye(4)[np.random.default_rng(3).integers(0, 4, size=20)],
}


def assert_valid(result: ImwkResult, X: Float64Array, k: int) -> None:
    kept = min(k, result.patterns)
    assert result.centroids.shape == result.weights.shape == (kept, X.shape[1])
    assert np.isfinite(result.centroids).all()
    assert (result.weights >= 0).all()
    np.testing.assert_allclose(result.weights.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert result.labels.shape == (len(X),)
    assert set(result.labels.tolist()) <= set(range(kept))
    assert result.n_clusters == len(set(result.labels.tolist()))
    assert 1 <= result.iterations <= 500


@pytest.mark.parametrize("p", EDGE_EXPONENTS)
@pytest.mark.parametrize(
    ("data", "centre"),
    # large values are refused for the fixed-step walk: test_bad_input.py shows the message
    [case for case in product(EDGE_DATA, CENTRES) if case != ("large values", "fixed-step")],
)
def test_edge_data_give_a_valid_result(data: str, p: float, centre: str) -> None:
    X = EDGE_DATA[data]
    for k in {1, (len(X) + 1) // 2, len(X)}:
        assert_valid(imwk(X, k, p, centre), X, k)


@pytest.mark.parametrize("p", EDGE_EXPONENTS)
def test_identical_rows_get_equal_weights(p: float) -> None:
    weights = imwk(EDGE_DATA["identical rows"], 1, p).weights
    expected = [[1, 0]] if p == 1 else [[0.5, 0.5]]  # at p = 1 one feature takes all
    np.testing.assert_array_equal(weights, expected)


def test_of_two_farthest_entities_the_one_with_the_higher_index_is_the_first_seed() -> None:
    # -1 and 1 are equally far from the mean; every entity is a pattern, in the order 1, -1, 0
    np.testing.assert_array_equal(imwk([[-1.0], [0.0], [1.0]], 3, 2.0).labels, [1, 2, 0])


def test_an_entity_as_near_to_the_centre_as_to_the_pattern_stays_with_the_centre() -> None:
    # the mean is 0; 2 is exactly between it and the second seed, 4
    assert imwk([[4.0], [2.0], [-6.0]], 3, 2.0).patterns == 3


@pytest.mark.parametrize("p", [1.3, 2.0, 3.6])
def test_the_hunt_ends_when_no_later_pattern_could_be_kept(p: float) -> None:
    X = normalise(synthetic_dataset("1000x6-3", 1, seed=1).X, "range")
    few, all_of_them = (
        imwk(X, 3, p),
        reference.anomalous_patterns(X, p, "exact", reference.Margin()),
    )
    kept = sorted(all_of_them, key=lambda pattern: -len(pattern.members))[:3]
    assert 3 <= few.patterns < len(all_of_them)
    left = len(X) - sum(len(pattern.members) for pattern in all_of_them[: few.patterns])
    assert left <= len(kept[-1].members)


def test_powers_just_within_the_limit_give_a_finite_result() -> None:
    X = np.array([[-0.9], [0.3], [0.5], [0.9]]) * 2.0**508
    assert_valid(imwk(X, 2, 2.0), X, 2)
    with pytest.raises(ImwkError, match="overflow float64"):
        imwk(X * 8, 2, 2.0)


@given(seed=st.integers(0, 10_000), p=st.sampled_from([1.3, 2.0, 3.7]))
def test_permuted_features_give_the_same_partition(seed: int, p: float) -> None:
    X, order = continuous(seed), np.random.default_rng(seed).permutation(5)
    plain, permuted = imwk(X, 4, p), imwk(X[:, order], 4, p)
    np.testing.assert_array_equal(permuted.labels, plain.labels)
    np.testing.assert_allclose(permuted.weights, plain.weights[:, order], atol=1e-7)


@given(seed=st.integers(0, 10_000), p=st.sampled_from([1.3, 2.0, 3.7]))
def test_shifted_data_give_the_same_partition(seed: int, p: float) -> None:
    X, shift = continuous(seed), np.random.default_rng(seed).normal(0, 3, size=5)
    plain, shifted = imwk(X, 4, p), imwk(X + shift, 4, p)
    np.testing.assert_array_equal(shifted.labels, plain.labels)
    np.testing.assert_allclose(shifted.weights, plain.weights, atol=1e-7)
    np.testing.assert_allclose(shifted.centroids, plain.centroids + shift, atol=1e-7)


def continuous(seed: int) -> Float64Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(60, 5)) + 2 * rng.normal(size=(4, 5))[rng.integers(0, 4, size=60)]


LANES_TOGETHER = {
    "lanes": st.lists(st.tuples(st.integers(0, 5), exponents), min_size=1, max_size=8),
    "shape": st.tuples(st.integers(2, 24), st.integers(1, 6)),
    "k": st.integers(1, 4),
    "cells": st.sampled_from([1, 300, 2000, 10**6]),
    "dtype": st.sampled_from(list(DTYPES)),
    "centre": st.sampled_from(list(CENTRES)),
    "lattice": st.booleans(),
}


@pytest.mark.parametrize("examples", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_other_lanes_and_the_order_of_lanes_change_no_bit(examples: int) -> None:
    settings(max_examples=examples)(given(**LANES_TOGETHER)(_together_as_alone))()


def _together_as_alone(
    lanes: list[tuple[int, float]],
    shape: tuple[int, int],
    k: int,
    cells: int,
    dtype: str,
    centre: str,
    lattice: bool,
) -> None:
    data = np.random.default_rng(7).normal(size=(6, *shape)) / 3
    data = np.round(data, 1) if lattice else data
    data /= 20 if centre == "fixed-step" else 1  # the walk takes steps of 0.001
    k, precision = min(k, shape[0]), DTYPES[dtype]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(import_module("pipeline.core.imwk"), "CELLS_TOGETHER", cells)
        patch.setattr("pipeline.core.segments.BATCH_SIZE", cells)
        patch.setattr("pipeline.core.minkowski.FEATURE_BATCH_SIZE", cells)
        runs = run_lanes([Lane(data[i], p) for i, p in lanes], k, CENTRES[centre], precision)
    for (i, p), together in zip(lanes, runs, strict=True):
        assert_same_bits(together, imwk(data[i], k, p, centre, dtype))


@pytest.mark.parametrize("dtype", list(DTYPES))
@pytest.mark.parametrize("centre", list(CENTRES))
def test_lanes_at_other_patterns_change_no_bit(centre: str, dtype: str) -> None:
    """Some lanes know where their centres were, while others begin a pattern of their own."""
    rng, ps = np.random.default_rng(8), [1.4, 2.0, 2.3, 3.0, 4.6]
    centroids = rng.normal(size=(3, 5, 4))
    data = [
        (z[rng.integers(0, 5, size=150)] + 0.6 * rng.normal(size=(150, 4))) / 20 for z in centroids
    ]
    together = imwk_grid(data, 5, ps, centre, dtype)
    for X, row in zip(data, together, strict=True):
        for p, run in zip(ps, row, strict=True):
            assert_same_bits(run, imwk(X, 5, p, centre, dtype))


@pytest.mark.parametrize("seed", range(20))
def test_exponents_too_large_for_estimates(seed: int) -> None:
    X = np.random.default_rng(seed).uniform(-0.9, 1, size=(9, 2)).round(1)
    run = imwk(X, 5, 101.0)
    assert run.labels.max() < len(run.centroids)
    nearest, margins = reference.assign(X, run.centroids, run.weights, 101.0)
    if run.converged:
        np.testing.assert_array_equal(run.labels[margins > 1e-6], nearest[margins > 1e-6])


def test_powers_of_equal_entities_may_overflow() -> None:
    """The powers are not needed, because all differences are 0."""
    assert imwk(np.full((3, 2), 7e4), 2, 150.0).labels.tolist() == [0, 0, 0]


@pytest.mark.parametrize("dtype", list(DTYPES))
@settings(max_examples=100)
@given(case=cases())
def test_estimates_change_no_bit(dtype: str, case: Case) -> None:
    # The largest number of float32 is about 1e38.
    largest = np.abs(case.X).max() or 1.0
    X = case.X * (1e30 ** (1 / case.p) / largest) if dtype == "float32" else case.X
    with pytest.MonkeyPatch.context() as patch:
        # Estimates settle nothing for exponents above the largest.
        patch.setattr("pipeline.core.lanes.estimates.LARGEST_EXPONENT", 0.5)
        exact = imwk(X, case.k, case.p, dtype=dtype)
    assert_same_bits(imwk(X, case.k, case.p, dtype=dtype), exact)


@pytest.mark.parametrize("p", [1.3, 1.7, 2.0, 2.6, 4.5])
@pytest.mark.parametrize("config", ["1000x6-3", "1000x12-6"])
def test_float32_finds_what_float64_finds(config: str, p: float) -> None:
    """About one partition in fifty differs. None of these does, and hardly their patterns."""
    X = normalise(synthetic_dataset(config, 0, seed=1).X, "range")
    single, double = (imwk(X, 6, p, dtype=dtype) for dtype in ("float32", "float64"))
    assert adjusted_rand_index(double.labels, single.labels) == 1
    assert abs(single.patterns - double.patterns) <= 2
    np.testing.assert_allclose(single.weights, double.weights, rtol=0, atol=1e-3)


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_an_entity_between_seed_and_centre_stays_with_the_centre(dtype: str) -> None:
    X = [[-1.0], [-0.5], [0.5], [1.0]]  # about 0, so that each half is as far from 0 as from 1
    assert imwk(X, 4, 2.0, dtype=dtype).patterns == 4


@pytest.mark.parametrize("p", [1.1, 1.2, 1.3, 1.5, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_an_outlier_makes_float32_no_worse(seed: int, p: float) -> None:
    """It makes the range so wide that a small share of it is wider than all other values."""
    rng = np.random.default_rng(seed)
    X = 10 ** rng.uniform(-5, -2, size=3) * rng.normal(size=(2000, 3))
    X[0] = rng.uniform(0.5, 1, size=3)
    single, double = (imwk(X, 1, p, dtype=dtype) for dtype in ("float32", "float64"))
    np.testing.assert_allclose(single.weights, double.weights, rtol=0, atol=1e-4)


@pytest.mark.parametrize(
    ("outlier", "name", "p"), [(1e3, "z-score", 1.1), (1e5, "range", 1.5), (1e5, "z-score", 1.5)]
)
def test_an_outlier_changes_no_partition_of_float32(outlier: float, name: str, p: float) -> None:
    rng = np.random.default_rng(1)
    X = np.vstack([rng.normal(z, 1, (100, 3)) for z in ((0, 0, 0), (8, 0, 4), (0, 8, -4))])
    X = np.column_stack([X, rng.normal(size=300)])
    X[5, 3] = outlier
    X = normalise(np.vstack([X, X[:60]]), name)
    single, double = (imwk(X, 3, p, dtype=dtype) for dtype in ("float32", "float64"))
    assert single.patterns == double.patterns
    assert adjusted_rand_index(double.labels, single.labels) == 1


def assert_same_bits(one: ImwkResult, other: ImwkResult) -> None:
    for field in fields(ImwkResult):
        left, right = getattr(one, field.name), getattr(other, field.name)
        np.testing.assert_array_equal(left, right, err_msg=field.name)
        assert np.asarray(left).tobytes() == np.asarray(right).tobytes(), (
            field.name
        )  # the sign of 0 too


def test_a_grid_of_data_sets_and_exponents_is_in_order() -> None:
    Xs, ps = [continuous(1), continuous(2)], [1.2, 2.0, 4.0]
    for X, row in zip(Xs, imwk_grid(Xs, 4, ps), strict=True):
        for p, run in zip(ps, row, strict=True):
            assert_same_bits(run, imwk(X, 4, p))


@pytest.mark.parametrize("dtype", list(DTYPES))
def test_the_sign_of_a_zero_changes_no_bit(dtype: str) -> None:
    """Otherwise the sign of a lone member's centre would depend on other lanes."""
    X = np.round(continuous(1)[:12])
    signed = np.where(X == 0, -0.0, X)
    assert (X == 0).any()
    unsigned = X + 0.0
    assert_same_bits(imwk(signed, 6, 1.5, dtype=dtype), imwk(unsigned, 6, 1.5, dtype=dtype))


def test_no_exponents_give_no_runs() -> None:
    assert imwk_grid([continuous(1), continuous(2)], 4, []) == [[], []]


def test_labels_of_a_converged_run_are_the_nearest_clusters() -> None:
    for seed in range(20):
        X = continuous(seed)
        run = imwk(X, 4, 1.7)
        assert run.converged
        nearest, _ = reference.assign(X, run.centroids, run.weights, 1.7)
        np.testing.assert_array_equal(nearest, run.labels)


def test_noise_features_get_less_weight_than_real_ones() -> None:
    data = synthetic_dataset("1000x6-3 +3NF", 0, seed=2020)
    run = imwk(normalise(data.X, "range"), 3, 1.5)
    assert (run.weights[:, 6:].max(axis=1) < run.weights[:, :6].min(axis=1)).all()


def test_rescaling_shrinks_noise_features_below_real_ones() -> None:
    data = synthetic_dataset("1000x6-3 +3NF", 0, seed=2020)
    X = normalise(data.X, "range")
    run = imwk(X, 3, 1.5)
    spread = rescale(X, run.labels, run.weights).std(axis=0)
    assert spread[6:].max() < spread[:6].min()


def replay(monkeypatch: pytest.MonkeyPatch, labellings: Iterable[list[int]]) -> ImwkResult:
    """Run imwk on four entities with the assignment replaced: real cycles are too rare to find."""
    steps = iter(labellings)
    monkeypatch.setattr(Assignment, "update", lambda *_: np.array([next(steps)]))
    return imwk(np.array([[0.0], [1.0], [5.0], [7.0]]), 2, 2.0)


def test_a_cycle_ends_with_the_last_labelling_before_the_repeat(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = replay(monkeypatch, [[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1], [0, 0, 1, 1]])
    np.testing.assert_array_equal(run.labels, [0, 1, 0, 1])
    np.testing.assert_array_equal(run.centroids, [[2.5], [4.0]])
    assert run.iterations == 4
    assert not run.converged


def test_a_run_that_never_settles_ends_at_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.core.lanes.main_loop.MAX_ROUNDS", 3)
    run = replay(monkeypatch, [[0, 0, 1, 1], [0, 1, 1, 1], [0, 1, 0, 1], [1, 1, 0, 0]])
    np.testing.assert_array_equal(run.labels, [0, 1, 0, 1])
    np.testing.assert_array_equal(run.centroids, [[2.5], [4.0]])
    assert run.iterations == 3
    assert not run.converged
