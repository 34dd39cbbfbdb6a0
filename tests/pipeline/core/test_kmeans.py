from importlib import import_module

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.random import SeedSequence
from scipy.stats import chisquare
from sklearn.cluster import KMeans

from pipeline.core import InvalidInputError, KMeansResult, kmeans, kmeans_many
from pipeline.core.kmeans import lloyd, plus_plus
from pipeline.core.types import Float64Array, IntArray

RNG_SEED = 20


def blobs(seed: int, n: int = 200, m: int = 4, k: int = 5) -> Float64Array:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, m))[rng.integers(0, k, size=n)] + rng.normal(0, 0.4, size=(n, m))


def assert_same(found: KMeansResult, expected: KMeansResult) -> None:
    np.testing.assert_array_equal(found.labels, expected.labels)
    np.testing.assert_array_equal(found.inertia, expected.inertia)
    np.testing.assert_array_equal(found.iterations, expected.iterations)


def first_restarts(result: KMeansResult, count: int) -> KMeansResult:
    return KMeansResult(result.labels[:count], result.inertia[:count], result.iterations[:count])


def plain_lloyd(X: Float64Array, z: Float64Array) -> tuple[IntArray, int]:
    z, labels, rounds = z.copy(), np.full(len(X), -1), 0
    while True:
        nearest = np.square(X[:, np.newaxis] - z).sum(axis=2).argmin(axis=1)
        rounds += 1
        if np.array_equal(nearest, labels):
            return labels, rounds
        labels = nearest
        for cluster in np.unique(labels):
            z[cluster] = X[labels == cluster].mean(axis=0)


@pytest.mark.parametrize("seed", range(20))
def test_lloyd_from_the_same_start_gives_scikit_learns_labels(seed: int) -> None:
    X = blobs(seed)
    start = X[np.random.default_rng(seed).permutation(len(X))[:30].reshape(6, 5)]
    for restart, found in enumerate(lloyd(X, start).labels):
        oracle = KMeans(5, init=start[restart], n_init=1, algorithm="lloyd", tol=0, max_iter=10_000)
        np.testing.assert_array_equal(found, oracle.fit(X).labels_)


def test_inertia_is_that_of_scikit_learn() -> None:
    X = blobs(3)
    start = X[:5]
    oracle = KMeans(5, init=start, n_init=1, tol=0).fit(X)
    assert lloyd(X, start[np.newaxis]).inertia[0] == pytest.approx(oracle.inertia_)


def test_first_two_centres_have_the_probabilities_of_k_means_plus_plus() -> None:
    X = np.random.default_rng(RNG_SEED).normal(size=(20, 2))
    uniforms = np.random.default_rng(RNG_SEED).random((100_000, 2))
    first, second = plus_plus(X, uniforms).T
    squared = np.square(X[:, np.newaxis] - X).sum(axis=2)
    expected = squared / squared.sum(axis=1, keepdims=True) / 20
    observed = np.zeros((20, 20))
    np.add.at(observed, (first, second), 1)
    off_diagonal = ~np.eye(20, dtype=bool)
    assert not observed[~off_diagonal].any()
    assert chisquare(observed.sum(axis=1)).pvalue > 0.001
    assert chisquare(observed[off_diagonal], 100_000 * expected[off_diagonal]).pvalue > 0.001


def test_streams_of_restarts_are_uniform_and_reach_the_seeding() -> None:
    X = np.arange(20.0)[:, np.newaxis] ** 2
    labels = kmeans(X, 20, restarts=400, seed=5).labels
    # with k = n every restart's label of row i is the rank at which row i was drawn
    assert chisquare(np.bincount(labels.argmin(axis=1), minlength=20)).pvalue > 0.001


@pytest.mark.parametrize("lattice", [False, True])
@pytest.mark.parametrize("seed", range(10))
def test_more_restarts_do_not_change_the_first_ones(seed: int, lattice: bool) -> None:
    X = np.round(blobs(seed)) if lattice else blobs(seed)
    assert_same(kmeans(X, 5, 3, seed=9), first_restarts(kmeans(X, 5, 50, seed=9), 3))


@given(
    seed=st.integers(0, 10_000),
    steps=st.sampled_from([1, 2, 2**20]),
    n=st.integers(1, 60),
    m=st.integers(1, 5),
    k=st.integers(1, 8),
)
def test_lloyd_gives_the_labels_of_plain_lloyd(
    seed: int, steps: int, n: int, m: int, k: int
) -> None:
    # few steps to 1 make a lattice, full of ties
    X = np.round(steps * blobs(seed, n, m)) / steps
    start = X[np.random.default_rng(seed).integers(0, n, size=(4, k))]
    result = lloyd(X, start)
    for z, labels, rounds in zip(start, result.labels, result.iterations, strict=True):
        expected_labels, expected_rounds = plain_lloyd(X, z)
        np.testing.assert_array_equal(labels, expected_labels)
        assert rounds == expected_rounds


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1e-8, 1e-6])
def test_entities_nearer_to_a_tie_than_float32_tells_get_the_nearest_centroid(
    noise: float,
) -> None:
    rng = np.random.default_rng(RNG_SEED)
    points, apart = rng.normal(size=(500, 6)), np.linspace(0.3, 1.1, 6)
    on_the_border = points - np.outer(points @ apart, apart) / (apart @ apart)
    X = on_the_border + noise * rng.normal(size=(500, 1)) * apart
    X = np.round(X * 2**40) / 2**40  # plain sums are exact too
    start = np.array([[-apart, apart], [apart, -apart]])
    for z, labels in zip(start, lloyd(X, start).labels, strict=True):
        np.testing.assert_array_equal(labels, plain_lloyd(X, z)[0])


@pytest.mark.parametrize("lattice", [False, True])
def test_a_restart_does_not_depend_on_the_others(lattice: bool) -> None:
    X = np.round(blobs(6)) if lattice else blobs(6)
    start = X[np.random.default_rng(6).integers(0, len(X), size=(30, 5))]
    together = lloyd(X, start)
    for restart in range(30):
        alone = lloyd(X, start[restart : restart + 1])
        np.testing.assert_array_equal(alone.labels[0], together.labels[restart])
        assert alone.inertia[0] == together.inertia[restart]
        assert alone.iterations[0] == together.iterations[restart]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nearest.SCORES_TOGETHER", 1),
        ("nearest.SCORES_TOGETHER", 10**9),
        ("kmeans.SHARE_ANEW", 0.0),
        ("kmeans.SHARE_ANEW", 0.99),
    ],
)
def test_how_work_is_divided_changes_no_bit(
    name: str, value: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = blobs(7, n=500, m=7)
    expected = kmeans(X, 6, 30, seed=2)
    module, constant = name.split(".")
    monkeypatch.setattr(import_module(f"pipeline.core.{module}"), constant, value)
    assert_same(kmeans(X, 6, 30, seed=2), expected)


def test_several_data_sets_give_the_results_of_each_alone() -> None:
    Xs = [blobs(seed) for seed in range(4)]
    seeds: list[int | SeedSequence] = [3, SeedSequence(4), 5, SeedSequence(6, spawn_key=(1,))]
    for X, seed, found in zip(Xs, seeds, kmeans_many(Xs, 5, 25, seeds), strict=True):
        assert_same(found, kmeans(X, 5, 25, seed))


def test_several_data_sets_need_a_seed_each() -> None:
    with pytest.raises(InvalidInputError, match="2 data sets need as many seeds, got 1"):
        kmeans_many([blobs(0), blobs(1)], 5, 3, seeds=[1])


def test_more_clusters_than_fit_a_byte() -> None:
    X = np.random.default_rng(RNG_SEED).permutation(np.arange(600.0))[:, np.newaxis]
    result = lloyd(X, np.arange(0.5, 600, 2)[np.newaxis, :, np.newaxis])
    np.testing.assert_array_equal(result.labels[0], X[:, 0] // 2)


@pytest.mark.parametrize("exponent", [-400, 400])
def test_labels_do_not_depend_on_the_scale(exponent: int) -> None:
    X = blobs(8)
    result, scaled = kmeans(X, 5, 20, seed=1), kmeans(np.ldexp(X, exponent), 5, 20, seed=1)
    np.testing.assert_array_equal(scaled.labels, result.labels)
    np.testing.assert_array_equal(scaled.inertia, np.ldexp(result.inertia, 2 * exponent))


def test_a_run_that_would_never_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    X = blobs(9)
    monkeypatch.setattr(import_module("pipeline.core.kmeans"), "MAX_ROUNDS", 2)
    result = kmeans(X, 5, 10, seed=1)
    assert result.iterations.tolist() == [2] * 10
    assert set(result.labels.ravel().tolist()) == set(range(5))
    assert np.isfinite(result.inertia).all()


def test_no_row_is_chosen_twice_where_rounding_hides_its_zero_distance() -> None:
    X = 1e4 + np.random.default_rng(1).normal(size=(12, 3))
    chosen = plus_plus(X, np.random.default_rng(2).random((500, 6)))
    assert all(len(set(row)) == 6 for row in chosen.tolist())


def test_more_clusters_than_distinct_rows_still_choose_rows() -> None:
    chosen = plus_plus(np.zeros((4, 1)), np.array([[0.1, 0.3, 0.6, 0.9]]))
    np.testing.assert_array_equal(chosen, [[0, 1, 2, 3]])


def test_restarts_differ_and_do_not_change_a_seed_sequence() -> None:
    X = blobs(4)
    sequence = SeedSequence(7, spawn_key=(1, 2))
    first, again = kmeans(X, 5, 30, sequence), kmeans(X, 5, 30, sequence)
    np.testing.assert_array_equal(first.labels, again.labels)
    assert not np.array_equal(first.labels, kmeans(X, 5, 30, SeedSequence(7)).labels)
    assert len({row.tobytes() for row in first.labels}) > 1


def test_an_emptied_cluster_keeps_its_centroid_and_makes_no_nan() -> None:
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    start = np.array([[[0.5], [10.5], [100.0]]])
    result = lloyd(X, start)
    np.testing.assert_array_equal(result.labels, [[0, 0, 1, 1]])
    assert result.inertia[0] == 1.0


@pytest.mark.parametrize("k", [1, 3, 6])
def test_duplicate_rows_are_clustered_without_nan(k: int) -> None:
    result = kmeans(np.repeat([[0.1, 0.7], [3.3, 0.7]], 3, axis=0), k, restarts=20, seed=1)
    assert np.isfinite(result.inertia).all()
    if k > 1:
        np.testing.assert_allclose(result.inertia, 0, atol=1e-15)


def test_far_from_the_origin_the_labels_are_the_same() -> None:
    X = np.round(blobs(5), 3)
    near, far = kmeans(X, 5, 50, seed=1), kmeans(X + 2.0**20, 5, 50, seed=1)
    np.testing.assert_array_equal(near.labels, far.labels)
