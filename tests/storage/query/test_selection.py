import numpy as np
import pytest
import xarray as xr

from pipeline.core.errors import InvalidInputError
from storage.query import as_variable, select
from tests.storage.grids import cube_of


@pytest.fixture
def cube() -> xr.Dataset:
    values = np.arange(2 * 3 * 2 * 4 * 2).reshape(2, 3, 2, 4, 2)
    return cube_of(
        {"rescaled_imwk_ari": values},
        configs=["1000x6-3", "1000x12-6"],
        p1=[1.1, 1.2, 1.3, 1.4],
        p2=[1.5, 3.0],
    )


def test_selects_by_label_and_keeps_dimensions(cube: xr.Dataset) -> None:
    chosen = select(cube, config="1000x12-6", dataset=[0, 2], normalisation="z-score", p1=1.3, p2=3)
    assert chosen.rescaled_imwk_ari.shape == (1, 2, 1, 1, 1)
    plain = cube.rescaled_imwk_ari.values[1, [0, 2], 1, 2, 1]
    assert chosen.rescaled_imwk_ari.values.ravel().tolist() == plain.tolist()


def test_labels_given_twice_are_selected_once(cube: xr.Dataset) -> None:
    chosen = select(cube, normalisation=["z-score", "range", "z-score"], p1=[1.2, 1.2 + 1e-7])
    assert chosen.normalisation.values.tolist() == ["z-score", "range"]
    assert chosen.p1.values.tolist() == [1.2]


def test_without_labels_everything_is_selected(cube: xr.Dataset) -> None:
    xr.testing.assert_identical(select(cube), cube)


@pytest.mark.parametrize("given", [1.2, 1.1 + 0.1, 1.2 + 1e-6, 1.2 - 1e-6])
def test_exponents_are_rounded_to_the_grid(cube: xr.Dataset, given: float) -> None:
    assert select(cube, p1=given).p1.values.tolist() == [1.2]


@pytest.mark.parametrize(
    ("given", "near"),
    [
        (1.25, "1.1, 1.2, 1.3, 1.4"),
        (1.2 + 1.5e-6, "1.1, 1.2, 1.3, 1.4"),
        (1.0, "1.1, 1.2"),
        (9, "1.3, 1.4"),
    ],
)
def test_an_exponent_off_the_grid_is_refused_with_its_neighbours(
    cube: xr.Dataset, given: float, near: str
) -> None:
    with pytest.raises(
        InvalidInputError, match=f"^p1 = {float(given)} is .* Near it are {near}\\.$"
    ):
        select(cube, p1=given)


def test_the_error_names_a_part_that_is_not_computed(cube: xr.Dataset) -> None:
    some = cube.assign_attrs(spec={"parts": ["imwk"]})
    with pytest.raises(InvalidInputError, match="does not compute rescaled_imwk, only imwk"):
        as_variable(some, "rescaled_imwk_silhouette")


def test_misspelt_names_get_suggestions(cube: xr.Dataset) -> None:
    with pytest.raises(InvalidInputError, match="Did you mean 'z-score'"):
        select(cube, normalisation="zscore")
    with pytest.raises(InvalidInputError, match=r"configuration.*Did you mean '1000x12-6'"):
        select(cube, config=["1000x6-3", "1000x126"])


def test_an_unknown_data_set_is_refused(cube: xr.Dataset) -> None:
    with pytest.raises(InvalidInputError, match=r"no data set 3 .* 0 to 2"):
        select(cube, dataset=3)
