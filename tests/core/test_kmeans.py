import numpy as np
import pytest
from numpy.random import SeedSequence
from scipy.stats import chisquare
from sklearn.cluster import KMeans

from pipeline.core import kmeans
from pipeline.core.kmeans import lloyd, plus_plus
from pipeline.core.validation import FloatArray

RNG_SEED = 20


def blobs(seed: int, n: int = 200, m: int = 4, k: int = 5) -> FloatArray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(k, m))[rng.integers(0, k, size=n)] + rng.normal(0, 0.4, size=(n, m))


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
def test_more_restarts_leave_the_first_ones_as_they_were(seed: int, lattice: bool) -> None:
    X = np.round(blobs(seed)) if lattice else blobs(seed)
    few, many = kmeans(X, 5, 3, seed=9), kmeans(X, 5, 50, seed=9)
    np.testing.assert_array_equal(few.labels, many.labels[:3])
    np.testing.assert_array_equal(few.inertia, many.inertia[:3])
    np.testing.assert_array_equal(few.iterations, many.iterations[:3])


def test_no_row_is_chosen_twice_where_rounding_hides_its_zero_distance() -> None:
    X = 1e4 + np.random.default_rng(1).normal(size=(12, 3))
    chosen = plus_plus(X, np.random.default_rng(2).random((500, 6)))
    assert all(len(set(row)) == 6 for row in chosen.tolist())


def test_more_clusters_than_distinct_rows_still_choose_rows() -> None:
    chosen = plus_plus(np.zeros((4, 1)), np.array([[0.1, 0.3, 0.6, 0.9]]))
    np.testing.assert_array_equal(chosen, [[0, 1, 2, 3]])


def test_seeds_give_different_restarts_and_a_sequence_is_left_as_it_was() -> None:
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
