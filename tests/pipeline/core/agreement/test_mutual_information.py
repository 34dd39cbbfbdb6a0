import tracemalloc
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_mutual_info_score, normalized_mutual_info_score

from pipeline.core import adjusted_mutual_info, adjusted_rand_index, normalised_mutual_info
from pipeline.core import labellings as batches
from pipeline.core.agreement import mutual_information as module
from pipeline.core.types import IntArray
from tests.strategies import labellings

SCORES = {
    adjusted_mutual_info: adjusted_mutual_info_score,
    normalised_mutual_info: normalized_mutual_info_score,
}
Case = tuple[IntArray, IntArray]


@settings(max_examples=200)
@given(labellings())
def test_both_equal_scikit_learn(case: Case) -> None:
    truth, labels = case
    for score, oracle in SCORES.items():
        expected = [oracle(truth, row) for row in labels]
        np.testing.assert_allclose(score(truth, labels), expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("k", [3, 10, 200])
@pytest.mark.parametrize("score", SCORES)
def test_a_real_size_equals_scikit_learn(score: object, k: int) -> None:
    assert callable(score)
    rng = np.random.default_rng(1)
    truth = rng.integers(0, k, size=3000)
    labels = np.where(rng.random((4, 3000)) < 0.4, truth, rng.integers(0, k, size=(4, 3000)))
    expected = [SCORES[score](truth, row) for row in labels]
    np.testing.assert_allclose(score(truth, labels), expected, rtol=0, atol=1e-11)


@settings(max_examples=200)
@given(labellings(), st.integers(1, 300), st.randoms(use_true_random=False))
def test_order_and_grouping_of_labellings_change_no_bit(
    case: Case, together: int, random: Random
) -> None:
    truth, labels = case
    order = list(range(len(labels)))
    random.shuffle(order)
    for score in (*SCORES, adjusted_rand_index):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "CLUSTERS_TOGETHER", together)
            patch.setattr(module, "TERMS_TOGETHER", together)
            grouped = score(truth, labels[order])
        alone = [score(truth, labels[number]) for number in order]
        np.testing.assert_array_equal(grouped, alone)


@settings(max_examples=100)
@given(labellings(), st.randoms(use_true_random=False))
def test_names_of_clusters_change_no_bit(case: Case, random: Random) -> None:
    truth, labels = case
    names = list(range(1000, 1000 + int(labels.max()) + 1))
    random.shuffle(names)
    renamed = np.array(names)[labels]
    for score in SCORES:
        np.testing.assert_array_equal(score(truth, renamed), score(truth, labels))
        np.testing.assert_array_equal(score(truth * -3, labels), score(truth, labels))


@pytest.mark.parametrize("score", SCORES)
def test_limits(score: object) -> None:
    assert callable(score)
    one, apart, pairs = [0, 0, 0, 0], [0, 1, 2, 3], [0, 0, 1, 1]
    assert score(pairs, [pairs, [5, 5, 3, 3]]).tolist() == [1, 1]
    assert [score(one, one), score(apart, apart), score([], [])] == [1, 1, 1]
    assert [score(one, pairs), score(pairs, one), score(one, apart)] == [0, 0, 0]


def test_singletons_share_information_only_by_chance() -> None:
    truth = np.repeat(np.arange(4), 25)
    assert adjusted_mutual_info(truth, np.arange(100)) == pytest.approx(0, abs=1e-12)
    assert float(normalised_mutual_info(truth, np.arange(100))) > 0.4


def test_large_data_are_compared_in_little_memory() -> None:
    rng = np.random.default_rng(2)
    truth, labels = rng.integers(0, 10, 100_000), rng.integers(0, 10, size=(20, 100_000))
    tracemalloc.start()
    adjusted_mutual_info(truth, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 30e6  # all labellings at once would take 16 MB for each of several arrays
