import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from pipeline.core import adjusted_rand_index

Labels = NDArray[np.int64]


def random_pair(seed: int) -> tuple[Labels, Labels]:
    """Return two labellings, from independent to nearly equal, of few or many clusters."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 200))
    truth = rng.integers(0, rng.integers(1, 12), size=n)
    noise = rng.integers(0, rng.integers(1, 2 * n + 1), size=n)
    return truth, np.where(rng.random(n) < rng.random(), truth, noise)


def test_equals_scikit_learn_on_2000_random_pairs() -> None:
    for seed in range(2000):
        truth, labels = random_pair(seed)
        expected = adjusted_rand_score(truth, labels)
        assert adjusted_rand_index(truth, labels) == pytest.approx(expected, abs=1e-12)


def test_many_labellings_equal_one_at_a_time() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 4, size=300)
    labels = rng.integers(0, 6, size=(40, 300))
    together = adjusted_rand_index(truth, labels)
    np.testing.assert_array_equal(together, [adjusted_rand_index(truth, row) for row in labels])


DEGENERATE = {
    "one entity": ([0], [5]),
    "no entity": ([], []),
    "all in one, both": ([0, 0, 0], [1, 1, 1]),
    "all apart, both": ([0, 1, 2], [2, 1, 0]),
    "all in one against all apart": ([0, 0, 0], [0, 1, 2]),
    "all apart against all in one": ([0, 1, 2], [0, 0, 0]),
    "one in one against a split": ([0, 0, 0, 0], [0, 0, 1, 1]),
}


@pytest.mark.parametrize(("truth", "labels"), DEGENERATE.values(), ids=DEGENERATE)
def test_degenerate_cases_equal_scikit_learn(truth: list[int], labels: list[int]) -> None:
    assert adjusted_rand_index(truth, labels) == adjusted_rand_score(truth, labels)


@pytest.mark.parametrize("clusters", [2, 1000, 1_000_000])
def test_a_million_entities_do_not_overflow(clusters: int) -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(0, 10, size=1_000_000)
    labels = np.where(rng.random(1_000_000) < 0.5, truth, rng.integers(0, clusters, 1_000_000))
    expected = adjusted_rand_score(truth, labels)
    assert adjusted_rand_index(truth, labels) == pytest.approx(expected, abs=1e-12)


def test_exact_where_nearly_all_entities_share_a_cluster() -> None:
    truth, labels = np.zeros((2, 1_000_000), dtype=np.int64)
    truth[:2], labels[:1] = 1, 1
    expected = adjusted_rand_score(truth, labels)  # uses Python's unbounded integers
    assert adjusted_rand_index(truth, labels) == pytest.approx(expected, abs=1e-12)


def test_names_of_classes_do_not_matter() -> None:
    truth, labels = random_pair(11)
    names = np.array([f"class {value}" for value in truth])
    assert adjusted_rand_index(names, labels - 50) == adjusted_rand_index(truth, labels)
