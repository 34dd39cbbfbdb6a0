"""The score `info`, compared with a slow version written from its definition."""

import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, rankdata
from sklearn.metrics import mutual_info_score

from pipeline.core import InvalidInputError, info_score, normalise
from pipeline.core import labellings as batches
from pipeline.core.labellings import MOST_ROWS, sampled_rows
from pipeline.core.scores import InfoScores
from pipeline.core.types import Float64Array, IntArray
from tests.strategies import HARD, labelled_tables

Case = tuple[Float64Array, IntArray]


def slow_info(X: Float64Array, labels: IntArray) -> float:
    """Compute the score of one labelling, feature by feature and cluster by cluster."""
    n, (clusters, sizes) = len(X), np.unique(labels, return_counts=True)
    found = float((sizes / n * np.log(sizes / n)).sum())
    for feature in X.T:
        distinct, codes = np.unique(feature, return_inverse=True)
        values = len(distinct)
        if values > 10:
            found += slow_continuous(feature, [labels == cluster for cluster in clusters])
        else:
            correction = (values - 1) * (len(clusters) - 1) / (2 * n)
            found += mutual_info_score(codes, labels) - correction
    return found


def slow_continuous(feature: Float64Array, clusters: list[IntArray]) -> float:
    n = len(feature)
    normal = norm.ppf((rankdata(feature) - 0.5) / n)
    normal = (normal - normal.mean()) / normal.std()
    found = 0.0
    for members in clusters:
        inside = normal[members]
        variance = (np.square(inside - inside.mean()).sum() + 10) / (len(inside) + 10)
        found -= len(inside) / n * np.log(variance) / 2
    return found


def wide_tables() -> st.SearchStrategy[Case]:
    return labelled_tables(HARD)


@settings(max_examples=200)
@given(wide_tables())
def test_equals_the_slow_version(case: Case) -> None:
    X, labels = case
    expected = [slow_info(X, row) for row in labels]
    np.testing.assert_allclose(info_score(X, labels), expected, rtol=0, atol=1e-10)


def test_a_real_size_equals_the_slow_version() -> None:
    rng = np.random.default_rng(1)
    labels = rng.integers(0, 10, size=(3, 1500))
    X = rng.standard_t(2, size=(1500, 9)) + 2 * labels[:1].T
    X[:, :3] = np.round(X[:, :3])  # ties
    X[:, 3], X[:, 4], X[:, 5] = X[:, 3] > 0, 7.0, labels[0]
    expected = [slow_info(X, row) for row in labels]
    np.testing.assert_allclose(info_score(X, labels), expected, rtol=0, atol=1e-10)


@settings(max_examples=200)
@given(wide_tables(), st.integers(1, 300), st.randoms(use_true_random=False))
def test_order_and_grouping_of_labellings_change_no_bit(
    case: Case, together: int, random: Random
) -> None:
    X, labels = case
    order = list(range(len(labels)))
    random.shuffle(order)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CLUSTERS_TOGETHER", together)
        grouped = info_score(X, labels[order])
    np.testing.assert_array_equal(grouped, [info_score(X, labels[each]) for each in order])


def test_large_products_change_no_bit() -> None:
    rng = np.random.default_rng(2)
    X, labels = rng.normal(size=(700, 5)), rng.integers(0, 7, size=(60, 700))
    scores = InfoScores(X)
    np.testing.assert_array_equal(scores.of(labels), [scores.of(row) for row in labels])


@settings(max_examples=50)
@given(wide_tables(), st.randoms(use_true_random=False))
def test_names_of_clusters_change_no_bit(case: Case, random: Random) -> None:
    X, labels = case
    names = list(range(int(labels.max()) + 1))
    random.shuffle(names)
    np.testing.assert_array_equal(info_score(X, np.array(names)[labels]), info_score(X, labels))


def test_increasing_functions_of_features_change_no_bit() -> None:
    rng = np.random.default_rng(3)
    X, labels = rng.normal(size=(200, 3)), rng.integers(0, 4, size=(5, 200))
    for changed in (1000 * X + 3, np.exp(X), normalise(X, "z-score")):
        np.testing.assert_array_equal(info_score(changed, labels), info_score(X, labels))


def test_ten_values_are_discrete_and_eleven_are_not() -> None:
    ten, eleven = np.arange(110) % 10, np.arange(110) % 11
    labels = np.arange(110) % 2
    for feature in (ten, eleven):
        X = feature[:, np.newaxis].astype(np.float64)
        assert info_score(X, labels) == pytest.approx(slow_info(X, labels), abs=1e-12)
    assert float(info_score(ten[:, np.newaxis], labels)) > -0.05  # the digits tell the parity
    assert float(info_score(eleven[:, np.newaxis], labels)) < -0.6


@pytest.mark.parametrize(
    ("X", "labels", "expected"),
    [
        ([[1.0, 2.0]], [0], 0),
        ([[1.0], [2.0]], [0, 0], 0),
        ([[1.0], [2.0]], [0, 1], -1 / 4),  # ln 2 - ln 2, less the correction
        ([[7.0], [7.0]], [0, 1], -np.log(2)),
    ],
    ids=["one entity", "one cluster", "two clusters", "a constant feature"],
)
def test_tiny_data(X: list[list[float]], labels: list[int], expected: float) -> None:
    assert info_score(X, labels) == pytest.approx(expected, abs=1e-15)


def test_one_cluster_is_0_and_singletons_are_poor() -> None:
    X = np.random.default_rng(4).normal(size=(60, 4))
    assert info_score(X, np.zeros(60, dtype=int)) == pytest.approx(0, abs=1e-12)
    assert info_score(X, np.arange(60)) == pytest.approx(2 * np.log(1.1) - np.log(60))


def test_many_rows_are_sampled_as_for_the_silhouette() -> None:
    rng = np.random.default_rng(5)
    n = MOST_ROWS + 500
    X, labels = rng.normal(size=(n, 3)), rng.integers(0, 3, size=(4, n))
    rows = sampled_rows(n, 7)
    assert len(rows) == MOST_ROWS
    np.testing.assert_array_equal(info_score(X, labels, 7), info_score(X[rows], labels[:, rows]))
    assert info_score(X, labels[0], 7) != info_score(X, labels[0], 8)


def test_large_data_are_scored_in_little_memory() -> None:
    rng = np.random.default_rng(6)
    X, labels = rng.normal(size=(100_000, 2)), rng.integers(0, 3, size=(20, 100_000))
    tracemalloc.start()
    info_score(X, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize("labels", [[0, 1], [[0], [1], [1]], 5])
def test_labels_of_other_rows_are_refused(labels: object) -> None:
    with pytest.raises(InvalidInputError, match=r"Give them as \(3,\) or \(r, 3\)"):
        info_score([[0.0], [1.0], [2.0]], labels)  # type: ignore[arg-type]
