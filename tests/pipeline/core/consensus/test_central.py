"""The central partition, compared with a slow version that uses scikit-learn's ARI."""

from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

from pipeline.core import InvalidInputError, adjusted_rand_index, central_scores
from pipeline.core import labellings as batches
from pipeline.core.consensus import central as module
from pipeline.core.consensus.central import reference_places
from pipeline.core.labellings import MOST_ROWS, sampled_rows
from pipeline.core.types import Float64Array, IntArray
from tests.strategies import labellings

Case = tuple[IntArray, IntArray]


def slow_central(labels: IntArray, references: list[int]) -> list[float]:
    """Return the mean ARI of each labelling with the references other than itself."""
    return [
        float(np.mean(aris)) if (aris := agreements(labels, number, references)) else 1.0
        for number in range(len(labels))
    ]


def agreements(labels: IntArray, number: int, references: list[int]) -> list[float]:
    others = [each for each in references if each != number]
    return [adjusted_rand_score(labels[each], labels[number]) for each in others]


@settings(max_examples=200)
@given(labellings(), st.integers(1, 9))
def test_equals_the_slow_version(case: Case, most: int) -> None:
    labels = case[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "MOST_REFERENCES", most)
        found, references = central_scores(labels), reference_places(len(labels)).tolist()
    assert len(references) == min(len(labels), most)
    np.testing.assert_allclose(found, slow_central(labels, references), rtol=0, atol=1e-12)


@settings(max_examples=50)
@given(labellings(), st.data())
def test_guests_are_rated_but_change_no_others(case: Case, data: st.DataObject) -> None:
    labels = case[1]
    own = data.draw(st.integers(1, len(labels)))
    found = central_scores(labels[:own], guests=labels[own:])
    np.testing.assert_array_equal(found[:own], central_scores(labels[:own]))
    expected = slow_central(labels, list(range(own)))
    np.testing.assert_allclose(found[own:], expected[own:], rtol=0, atol=1e-12)


def test_guests_of_other_data_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="guests have 2 rows of data, labels 3"):
        central_scores([[0, 0, 1]], guests=[[0, 1]])


def many(seed: int, r: int, n: int, k: int) -> IntArray:
    rng = np.random.default_rng(seed)
    noise = rng.integers(0, k, size=(r, n))
    return np.where(rng.random((r, n)) < rng.random((r, 1)), noise[0], noise)


def test_many_labellings_equal_the_slow_version() -> None:
    labels = many(1, 230, 60, 4)
    references = reference_places(230)
    assert len(references) == 199
    found = central_scores(labels)
    for number in (0, 7, int(references[0]), int(references[100])):
        others = labels[references[references != number]]
        expected = np.mean(adjusted_rand_index(labels[number], others))
        assert found[number] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=100)
@given(labellings(), st.integers(1, 300), st.integers(1, 50), st.randoms(use_true_random=False))
def test_neither_batches_nor_names_of_clusters_change_a_bit(
    case: Case, together: int, columns: int, random: Random
) -> None:
    labels = case[1]
    names = list(range(int(labels.max()) + 1))
    random.shuffle(names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CLUSTERS_TOGETHER", together)
        patch.setattr(module, "REFERENCE_CLUSTERS_TOGETHER", columns)
        found = central_scores(np.array(names)[labels])
    np.testing.assert_array_equal(found, central_scores(labels))


def test_a_real_size_in_batches_changes_no_bit() -> None:
    labels = many(2, 300, 500, 7)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "CLUSTERS_TOGETHER", 1)
        alone = central_scores(labels)
    np.testing.assert_array_equal(central_scores(labels), alone)


def test_references_are_spread_over_the_whole_grid() -> None:
    plain, grid = 40, (40, 40)
    places = reference_places(plain + 1600)
    assert len(places) == 199
    assert set(np.diff(places).tolist()) == {8, 9}
    p1, p2 = np.unravel_index(places[places >= plain] - plain, grid)
    assert set(p1.tolist()) == set(p2.tolist()) == set(range(40))


def test_up_to_the_limit_all_labellings_are_references() -> None:
    assert reference_places(199).tolist() == list(range(199))
    assert central_scores([[0, 0, 1]]).tolist() == [1.0]
    assert central_scores(np.zeros((0, 3), dtype=int)).shape == (0,)


def test_the_majority_is_central() -> None:
    found: Float64Array = central_scores([[0, 0, 1, 1], [5, 5, 3, 3], [1, 1, 0, 0], [0, 1, 0, 1]])
    assert found.tolist() == [0.5, 0.5, 0.5, -0.5]


def test_many_rows_are_sampled_as_for_the_silhouette() -> None:
    n = MOST_ROWS + 300
    labels = many(3, 6, n, 3)
    rows = sampled_rows(n, 7)
    np.testing.assert_array_equal(central_scores(labels, 7), central_scores(labels[:, rows]))


@pytest.mark.parametrize("labels", [[0, 1], 5, [[[0]]]])
def test_anything_but_rows_is_refused(labels: object) -> None:
    with pytest.raises(InvalidInputError, match=r"Give them as \(r, n\)"):
        central_scores(labels)  # type: ignore[arg-type]
