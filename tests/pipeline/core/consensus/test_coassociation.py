"""Ensembles, compared with SciPy's average linkage of the shares of labellings."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from pipeline.core import InvalidInputError, adjusted_rand_index, consensus_labels, ensembles
from pipeline.core.consensus import coassociation as module
from pipeline.core.types import IntArray
from tests.strategies import labellings


def noisy(seed: int, q: int, n: int, k: int, noise: float) -> tuple[IntArray, IntArray]:
    """Return a labelling, and `q` others that differ from it in some entities."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, size=n)
    others = rng.integers(0, k, size=(q, n))
    return truth, np.where(rng.random((q, n)) < noise, others, truth)


def linked_by_scipy(labels: IntArray, k: int) -> IntArray:
    apart = (labels[:, :, np.newaxis] != labels[:, np.newaxis]).mean(axis=0)
    return np.asarray(fcluster(linkage(squareform(apart), "average"), k, "maxclust"))


@pytest.mark.parametrize("seed", range(5))
def test_equals_scipy_on_real_sizes(seed: int) -> None:
    _, labels = noisy(seed, 40, 300, 4, 0.3)  # merges tie, but not those between the clusters
    assert adjusted_rand_index(linked_by_scipy(labels, 4), consensus_labels(labels, 4)) == 1


def test_the_consensus_is_better_than_its_members() -> None:
    truth, labels = noisy(1, 20, 500, 5, 0.4)
    members = np.asarray(adjusted_rand_index(truth, labels))
    assert members.max() < 0.6
    assert float(adjusted_rand_index(truth, consensus_labels(labels, 5))) > 0.95


@settings(max_examples=200)
@given(labellings(), st.data())
def test_what_all_labellings_put_together_stays_together(case: Any, data: st.DataObject) -> None:
    _, labels = case
    k = data.draw(st.integers(1, labels.shape[1]))
    found = consensus_labels(labels, k)
    assert len(np.unique(found)) <= k
    groups = np.unique(labels, axis=1, return_inverse=True)[1].ravel()
    if len(np.unique(groups)) >= k:
        assert adjusted_rand_index(groups, found * len(groups) + groups) == 1
    _, first = np.unique(found, return_index=True)
    assert (np.diff(first) > 0).all()


@settings(max_examples=100)
@given(labellings(), st.data())
def test_names_of_clusters_and_order_of_labellings_do_not_matter(
    case: Any, data: st.DataObject
) -> None:
    _, labels = case
    k = data.draw(st.integers(1, labels.shape[1]))
    order = data.draw(st.permutations(range(len(labels))))
    renamed = (labels.max() - labels + 3)[list(order)]
    np.testing.assert_array_equal(consensus_labels(renamed, k), consensus_labels(labels, k))


def test_equal_labellings_give_themselves() -> None:
    labels = np.array([[4, 4, 2, 2, 9], [0, 0, 7, 7, 1]])
    assert consensus_labels(labels, 3).tolist() == [0, 0, 1, 1, 2]
    assert consensus_labels(labels, 5).tolist() == [0, 0, 1, 1, 2]  # never split


def test_small_groups_join_the_nearest_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    truth, labels = noisy(2, 12, 2000, 4, 0.25)
    everything = consensus_labels(labels, 4)
    monkeypatch.setattr(module, "MOST_GROUPS", 40)
    some = consensus_labels(labels, 4)
    assert len(np.unique(labels, axis=1).T) > 400
    assert float(adjusted_rand_index(everything, some)) > 0.99
    assert float(adjusted_rand_index(truth, some)) > 0.99


def test_the_nearest_cluster_has_the_most_companions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_GROUPS", 2)
    labels = [[0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 1, 1, 1, 0]]
    assert consensus_labels(labels, 2).tolist() == [0, 0, 0, 1, 1, 1, 0]


def test_ensembles_are_made_of_the_best() -> None:
    _, labels = noisy(3, 30, 100, 3, 0.5)
    scores = np.random.default_rng(4).random(30).round(1)  # with ties
    best = sorted(range(30), key=lambda number: (-scores[number], number))
    found = ensembles(labels, scores, 3)
    assert list(found) == [5, 10, 20]
    for size, ensemble in found.items():
        np.testing.assert_array_equal(ensemble, consensus_labels(labels[best[:size]], 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: consensus_labels([0, 1], 2), r"Give them as \(q, n\)"),
        (lambda: consensus_labels(np.zeros((0, 3)), 2), r"Give them as \(q, n\)"),
        (lambda: consensus_labels([[0, 1]], 3), "k must be at most 2"),
        (lambda: ensembles([[0, 1]], [1, 2], 1), "one score for each of 1 labellings"),
    ],
)
def test_bad_arguments_are_refused(call: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        call()
