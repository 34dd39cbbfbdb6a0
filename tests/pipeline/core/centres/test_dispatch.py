"""The table in `dispatch`: which exponent and precision lead to which way of finding centres."""

import numpy as np
import pytest

from pipeline.core.centres import CENTRES
from pipeline.core.centres.dispatch import exact_centres, fixed_step_centres
from pipeline.core.centres.searches import Search
from pipeline.core.segments import Groups
from pipeline.core.types import FloatArray

pytestmark = pytest.mark.usefixtures("as_public_functions_call")

#: Kind of search, its precision, and the limit of its steps.
Used = tuple[str, str, int | None]

HALVING_64: list[Used] = [("HalvingSearch", "float64", None)]
HALVING_32: list[Used] = [("HalvingSearch", "float32", None)]
GAP_64: list[Used] = [("GapSearch", "float32", 6), ("GapSearch", "float64", None)]
GAP_32: list[Used] = [("GapSearch", "float32", None)]
NEWTON_64: list[Used] = [("NewtonSearch", "float32", 1), ("NewtonSearch", "float64", None)]
NEWTON_32: list[Used] = [("NewtonSearch", "float32", None)]

WAYS: dict[tuple[float, ...], tuple[list[Used], list[Used]]] = {
    (1.0, 2.0): ([], []),
    (1.0001, 1.0599): (HALVING_64, HALVING_32),
    (1.06, 1.5, 1.9999): (GAP_64, GAP_32),
    (2.0001, 5.0): (NEWTON_64, NEWTON_32),
}


@pytest.fixture
def used(monkeypatch: pytest.MonkeyPatch) -> list[Used]:
    """Return a list that gets an entry for every search that is run."""
    found: list[Used] = []
    solve = Search.solve

    def recorded(self: Search) -> tuple[FloatArray, FloatArray]:
        found.append((type(self).__name__, self.centres.dtype.name, self.most_steps))
        return solve(self)

    monkeypatch.setattr(Search, "solve", recorded)
    return found


def groups_of(dtype: str) -> Groups:
    columns = np.random.default_rng(1).gamma(2, size=(3, 300)).astype(dtype)
    return Groups(columns / 10, np.array([70, 1, 129, 100]))


@pytest.mark.parametrize(("p", "ways"), [(p, ways) for ps, ways in WAYS.items() for p in ps])
def test_exponent_and_precision_choose_the_search(
    p: float, ways: tuple[list[Used], list[Used]], used: list[Used]
) -> None:
    for dtype, expected in zip(("float64", "float32"), ways, strict=True):
        used.clear()
        exact_centres(groups_of(dtype), np.full(4, p))
        assert used == expected


@pytest.mark.parametrize(
    ("p", "dtype"),
    [(1.0, "float64"), (1.03, "float64"), (2.0, "float64"), (1.5, "float32"), (3.0, "float32")],
)
def test_the_walk_needs_no_search(p: float, dtype: str, used: list[Used]) -> None:
    fixed_step_centres(groups_of(dtype), np.full(4, p))
    assert not used


@pytest.mark.parametrize("p", [1.5, 3.0])
def test_the_fixed_step_searches_for_the_minimum_in_float64(p: float, used: list[Used]) -> None:
    fixed_step_centres(groups_of("float64"), np.full(4, p))
    assert used


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", CENTRES)
@pytest.mark.parametrize("p", [[1.0, 1.06, 2.0, 5.0], [1.5, 1.03, 1.5, 1.0], [2.0, 2.0, 3.0, 2.0]])
def test_every_group_gets_what_its_own_exponent_gives(
    p: list[float], name: str, dtype: str
) -> None:
    groups, find_centres = groups_of(dtype), CENTRES[name]
    centres, dispersions, _ = find_centres(groups, np.array(p))
    for i, exponent in enumerate(p):
        alone = find_centres(groups.keep(np.arange(4) == i), np.array([exponent]))
        np.testing.assert_array_equal(centres[:, i], alone.centres[:, 0])
        np.testing.assert_array_equal(dispersions[:, i], alone.dispersions[:, 0])


def test_small_groups_above_2_start_at_the_mean(used: list[Used]) -> None:
    columns = np.random.default_rng(1).gamma(2, size=(3, 60))
    exact_centres(Groups(columns, np.array([20, 40])), np.full(2, 3.0))
    assert used == [("NewtonSearch", "float64", None)]


def test_groups_of_one_member_each_need_no_search(used: list[Used]) -> None:
    columns = np.random.default_rng(1).normal(size=(3, 4))
    centres, dispersions, _ = exact_centres(Groups(columns, np.ones(4, dtype=int)), np.full(4, 1.5))
    np.testing.assert_array_equal(centres, columns)
    assert not dispersions.any()
    assert not used
