import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import calinski_harabasz_score, davies_bouldin_score, silhouette_score

from pipeline.core import InvalidInputError, calinski_harabasz, davies_bouldin, silhouette
from pipeline.core import labellings as module
from pipeline.core.labellings import MOST_ROWS
from pipeline.core.scores import Silhouettes
from pipeline.core.types import Float64Array, IntArray
from pipeline.seeds import seed_sequence
from tests.strategies import labelled_tables

SCORES = (silhouette, calinski_harabasz, davies_bouldin)


def exact_distances(X: Float64Array) -> Float64Array:
    """Return distances from differences: scikit-learn's own, from products, are good to 1e-8."""
    return np.asarray(np.sqrt(np.square(X[:, np.newaxis] - X).sum(axis=2)))


def expected(X: Float64Array, labels: IntArray) -> tuple[float, float]:
    if not 1 < len(np.unique(labels)) < len(X):
        return np.nan, np.nan  # scikit-learn refuses these
    return (
        silhouette_score(exact_distances(X), labels, metric="precomputed"),
        calinski_harabasz_score(X, labels),
    )


@settings(max_examples=200)
@given(labelled_tables())
def test_both_equal_scikit_learn(case: tuple[Float64Array, IntArray]) -> None:
    X, labels = case
    silhouettes, ratios = np.transpose([expected(X, row) for row in labels])
    np.testing.assert_allclose(silhouette(X, labels), silhouettes, rtol=0, atol=1e-9)
    found = calinski_harabasz(X, labels)
    no_spread = [all_equal_in_clusters(X, row) for row in labels]  # decided by rounding there
    ratios[no_spread & ~np.isnan(ratios)] = 1.0
    np.testing.assert_allclose(found, ratios, rtol=1e-9, atol=1e-12)


def all_equal_in_clusters(X: Float64Array, labels: IntArray) -> bool:
    return all(np.ptp(X[labels == label], axis=0).max() == 0 for label in np.unique(labels))


@settings(max_examples=200)
@given(labelled_tables())
def test_davies_bouldin_equals_scikit_learn(case: tuple[Float64Array, IntArray]) -> None:
    X, labels = case
    for row, found in zip(labels, np.asarray(davies_bouldin(X, labels)), strict=True):
        if not 1 < len(np.unique(row)) < len(X):
            assert np.isnan(found)
        elif nearest_means(X, row) < 1e-9:
            assert found > 1e6 or all_equal_in_clusters(X, row)  # scikit-learn ignores such pairs
        else:
            assert found == pytest.approx(davies_bouldin_score(X, row), rel=1e-6)


def nearest_means(X: Float64Array, labels: IntArray) -> float:
    means = np.array([X[labels == label].mean(axis=0) for label in np.unique(labels)])
    apart = exact_distances(means)
    return float(apart[np.triu_indices(len(means), 1)].min())


def test_davies_bouldin_is_infinite_if_two_means_are_equal() -> None:
    X = [[-1.0], [1.0], [-2.0], [2.0], [9.0]]
    assert davies_bouldin(X, [0, 0, 1, 1, 2]) == np.inf
    assert davies_bouldin([[1.0], [1.0], [1.0]], [0, 0, 1]) == np.inf


def test_a_real_size_equals_scikit_learn() -> None:
    rng = np.random.default_rng(1)
    X, labels = rng.normal(size=(1000, 9)), rng.integers(0, 10, size=(5, 1000))
    np.testing.assert_allclose(
        silhouette(X, labels), [silhouette_score(X, row) for row in labels], rtol=0, atol=1e-9
    )
    ratios = [calinski_harabasz_score(X, row) for row in labels]
    np.testing.assert_allclose(calinski_harabasz(X, labels), ratios, rtol=1e-9)
    overlaps = [davies_bouldin_score(X, row) for row in labels]
    np.testing.assert_allclose(davies_bouldin(X, labels), overlaps, rtol=1e-9)


@settings(max_examples=200)
@given(labelled_tables(), st.integers(1, 300), st.randoms(use_true_random=False))
def test_order_and_grouping_of_labellings_change_no_bit(
    case: tuple[Float64Array, IntArray], together: int, random: Random
) -> None:
    X, labels = case
    order = list(range(len(labels)))
    random.shuffle(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CLUSTERS_TOGETHER", together)
        grouped = [score(X, labels[order]) for score in SCORES]
    for score, values in zip(SCORES, grouped, strict=True):
        np.testing.assert_array_equal(values, [score(X, labels[number]) for number in order])


def test_large_products_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(700, 5)), rng.integers(0, 7, size=(60, 700))
    distances = Silhouettes(X)
    np.testing.assert_array_equal(distances.of(labels), [distances.of(row) for row in labels])


def test_names_of_clusters_do_not_matter() -> None:
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(40, 3)), rng.integers(0, 4, size=40)
    names = np.array(["d", "c", "b", "a"])[labels]
    assert silhouette(X, names) == silhouette(X, labels)
    assert davies_bouldin(X, names) == davies_bouldin(X, labels)
    assert calinski_harabasz(X, names) == pytest.approx(calinski_harabasz(X, labels), rel=1e-12)


@pytest.mark.parametrize("labels", [[0, 0, 0, 0], [0, 1, 2, 3]], ids=["one", "all alone"])
def test_one_cluster_or_entities_all_alone_give_nan(labels: list[int]) -> None:
    X = [[0.0], [1.0], [3.0], [7.0]]
    assert all(np.isnan(score(X, labels)) for score in SCORES)


def test_a_single_entity_is_nan() -> None:
    assert all(np.isnan(score([[1.0, 2.0]], [0])) for score in SCORES)


def test_clusters_of_equal_entities() -> None:
    X = np.repeat([[0.1, 0.7], [0.9, 0.2], [0.3, 0.3]], 7, axis=0)
    labels = np.repeat([0, 1, 2], 7)
    assert silhouette(X, labels) == 1
    assert calinski_harabasz(X, labels) == 1
    assert davies_bouldin(X, labels) == 0
    assert silhouette(np.zeros((6, 2)), [0, 0, 0, 1, 1, 1]) == 0


def test_no_labelling_gives_no_score() -> None:
    assert np.asarray(silhouette([[0.0], [1.0]], np.zeros((0, 2), dtype=int))).shape == (0,)


def test_many_rows_are_sampled_by_the_seed() -> None:
    rng = np.random.default_rng(4)
    n = MOST_ROWS + 500
    labels = rng.integers(0, 3, size=n)
    X = rng.normal(size=(n, 2)) + labels[:, np.newaxis]
    one, same, other = (
        silhouette(X, labels, seed_sequence(2020, "silhouette", name)) for name in "aab"
    )
    assert one == same != other
    assert one == pytest.approx(silhouette_score(X, labels), abs=0.02)
    together = np.asarray(
        silhouette(X, [labels, 1 - labels], seed_sequence(2020, "silhouette", "a"))
    )
    np.testing.assert_array_equal(together, one)


def test_large_data_are_scored_in_little_memory() -> None:
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(100_000, 2)), rng.integers(0, 3, size=(20, 100_000))
    tracemalloc.start()
    for score in SCORES:
        score(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50e6  # Calinski-Harabasz of all labellings at once would take 80 MB


def test_up_to_the_limit_the_seed_does_not_matter() -> None:
    rng = np.random.default_rng(5)
    X, labels = rng.normal(size=(MOST_ROWS, 1)), rng.integers(0, 2, size=MOST_ROWS)
    assert silhouette(X, labels, seed=1) == silhouette(X, labels, seed=2)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("labels", [[0, 1], [[0], [1], [1]], 5])
def test_labels_of_other_rows_are_refused(score: object, labels: object) -> None:
    assert callable(score)
    with pytest.raises(InvalidInputError, match=r"Give them as \(3,\) or \(r, 3\)"):
        score([[0.0], [1.0], [2.0]], labels)
