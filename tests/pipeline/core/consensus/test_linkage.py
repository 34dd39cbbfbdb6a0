"""Average linkage, compared with SciPy where no two merges are equally good."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from pipeline.core import adjusted_rand_index
from pipeline.core.consensus.linkage import average_linkage
from pipeline.core.types import Float64Array, IntArray


def similarities(rng: np.random.Generator, g: int, most: int) -> Float64Array:
    half = np.triu(rng.integers(0, most, size=(g, g)), 1).astype(np.float64)
    return half + half.T


def linked_by_scipy(similar: Float64Array, sizes: IntArray, k: int) -> IntArray:
    """Return the clusters of single entities: those of a group are at a distance of 0."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    distances = similar.max() + 1 - similar
    np.fill_diagonal(distances, 0)
    tree = linkage(squareform(distances[np.ix_(groups, groups)]), "average")
    return np.asarray(fcluster(tree, k, "maxclust"))


@settings(max_examples=200)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1), st.data())
def test_equals_scipy_without_ties(g: int, seed: int, data: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    similar, sizes = similarities(rng, g, 2**40), rng.integers(1, 4, size=g)
    k = data.draw(st.integers(1, g))
    found = average_linkage(similar * np.outer(sizes, sizes), sizes, k)
    assert len(np.unique(found)) == k
    expected = linked_by_scipy(similar, sizes, k)
    assert adjusted_rand_index(expected, np.repeat(found, sizes)) == 1


@settings(max_examples=200)
@given(st.integers(2, 25), st.integers(0, 2**32 - 1), st.data())
def test_with_ties_there_are_at_most_k_clusters_which_only_merge(
    g: int, seed: int, data: st.DataObject
) -> None:
    similar = similarities(np.random.default_rng(seed), g, 3)
    k, ones = data.draw(st.integers(1, g)), np.ones(g, dtype=np.int64)
    clusters = average_linkage(similar, ones, k)
    assert len(np.unique(clusters)) <= k
    smaller = average_linkage(similar, ones, max(1, k - 1))
    assert adjusted_rand_index(clusters * g + smaller, clusters) == 1


def test_equally_good_merges_are_all_made() -> None:
    totals = np.zeros((6, 6))
    for i, j, similar in ((0, 1, 9), (2, 3, 5), (4, 5, 5)):
        totals[i, j] = totals[j, i] = similar
    ones = np.ones(6, dtype=np.int64)
    assert average_linkage(totals, ones, 5).tolist() == [0, 0, 2, 3, 4, 5]
    assert average_linkage(totals, ones, 4).tolist() == [0, 0, 2, 2, 4, 4]
    assert average_linkage(totals, ones, 2).tolist() == [0] * 6


@pytest.mark.parametrize("k", [3, 4, 9])
def test_groups_that_are_few_enough_stay(k: int) -> None:
    totals = np.full((3, 3), 5.0)
    assert average_linkage(totals, np.ones(3, dtype=np.int64), k).tolist() == [0, 1, 2]


def test_one_group() -> None:
    assert average_linkage(np.zeros((1, 1)), np.array([7]), 1).tolist() == [0]
