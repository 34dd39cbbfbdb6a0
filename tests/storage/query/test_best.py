from pathlib import Path

import dask
import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray

from pipeline.core.errors import InvalidInputError
from storage import create_cube, open_cube
from storage.query import (
    averaged,
    best_average,
    best_exponents,
    expected_ari,
    scores,
    share_beating_kmeans,
)
from tests.storage.grids import cube_of, plain_best, plain_mean
from tests.storage.made_up import fill, small_spec
from tests.storage.query.small_cubes import BY_HAND, NAN, by_hand, partial_cube


def test_best_exponents_by_hand() -> None:
    best = best_exponents(by_hand()).squeeze()
    assert best.best.values.tolist() == [0.8, 0.9]
    assert best.p1.values.tolist() == [1.4, 1.1]
    assert best.p2.values.tolist() == [1.5, 3.0]


def test_best_average_by_hand() -> None:
    best = best_average(by_hand()).squeeze()
    assert float(best.average) == pytest.approx(0.6)
    assert (float(best.p1), float(best.p2), int(best.datasets)) == (1.1, 1.5, 2)
    assert float(best.spread) == pytest.approx(0.0)


def test_expected_ari_by_hand() -> None:
    expected = expected_ari(by_hand()).squeeze()
    assert float(expected.average) == pytest.approx((0.3 + 0.7) / 2)
    assert float(expected.spread) == pytest.approx(np.sqrt(0.08))
    assert int(expected.datasets) == 2


def test_one_data_set_has_a_mean_but_no_spread() -> None:
    cube = by_hand(BY_HAND[:1])
    average = best_average(cube).squeeze()
    assert (float(average.average), int(average.datasets)) == (0.8, 1)
    assert np.isnan(average.spread)
    assert np.isnan(expected_ari(cube).spread).all()


def test_empty_cells_are_not_counted() -> None:
    grid = BY_HAND.copy()
    grid[0, 1, 0] = grid[1, 0, 1] = NAN
    cube = by_hand(grid)
    best = best_exponents(cube).squeeze()
    assert best.best.values.tolist() == [0.6, 0.6]
    assert best.p1.values.tolist() == [1.1, 1.1]
    means = averaged(scores(cube, "rescaled_imwk_ari")).squeeze()
    assert means.average.values.tolist() == [[0.6, 0.1], [0.0, 0.1]]
    assert means.datasets.values.tolist() == [[2, 1], [1, 2]]


def test_an_empty_cell_is_not_better_than_a_negative_one() -> None:
    best = best_exponents(by_hand(np.array([[[NAN, -0.3], [-0.1, NAN]]]))).squeeze()
    assert (float(best.best), float(best.p1), float(best.p2)) == (-0.1, 1.4, 1.5)


def test_a_pair_that_few_data_sets_have_is_not_the_best_average() -> None:
    grid = BY_HAND.copy()
    grid[0, 0, 1] = NAN  # leaves 0.9 of one data set, above all other means
    best = best_average(by_hand(grid)).squeeze()
    assert float(best.average) == pytest.approx(0.6)
    assert int(best.datasets) == 2


LOWER = "rescaled_imwk_davies_bouldin"


def lower_is_better(grid: NDArray[np.float64]) -> xr.Dataset:
    return cube_of({LOWER: grid[None, :, None]}, p1=[1.1, 1.4], p2=[1.5, 3.0])


def test_the_lowest_is_the_best_where_lower_is_better() -> None:
    cube = lower_is_better(np.array([[[0.6, 0.1], [NAN, np.inf]], [[0.6, 0.9], [0.7, 0.2]]]))
    best = best_exponents(cube, LOWER).squeeze()
    assert best.best.values.tolist() == [0.1, 0.2]
    assert best.p1.values.tolist() == [1.1, 1.4]
    average = best_average(cube, LOWER).squeeze()
    assert (float(average.average), float(average.p1), float(average.p2)) == (0.5, 1.1, 3.0)


def test_an_undefined_score_is_better_than_no_result() -> None:
    cube = lower_is_better(np.array([[[NAN, NAN], [np.inf, NAN]]]))
    best = best_exponents(cube, LOWER).squeeze()
    assert (float(best.best), float(best.p1), float(best.p2)) == (np.inf, 1.4, 1.5)


def test_a_mean_with_an_undefined_score_is_infinite_without_a_warning() -> None:
    values = xr.DataArray([[np.inf, 0.5], [0.25, 1.5]], dims=("dataset", "p1"))
    over = averaged(values)
    assert over.average.values.tolist() == [np.inf, 1.0]
    np.testing.assert_allclose(over.spread.values, [NAN, np.sqrt(0.5)])


def test_an_empty_cube_gives_counts_of_zero_and_no_warning() -> None:
    cube = by_hand(np.full((2, 2, 2), NAN))
    average = best_average(cube).squeeze()
    assert int(average.datasets) == 0
    assert np.isnan(average.average)
    assert np.isnan(best_exponents(cube).p1).all()
    share = share_beating_kmeans(cube).squeeze()
    assert np.isnan(share.share)
    assert (int(share.cells), int(share.datasets)) == (0, 0)


def test_equal_pairs_give_the_lowest_exponents() -> None:
    best = best_exponents(by_hand(np.full((1, 2, 2), 0.5))).squeeze()
    assert (float(best.p1), float(best.p2)) == (1.1, 1.5)


def test_restarts_are_averaged_before_the_best_is_chosen() -> None:
    # the best restart is at the first p1, the best mean is not
    restarts = np.array([[0.0, 1.0], [0.6, 0.8]])
    cube = cube_of(
        {"rescaled_kmeans_ari": restarts[None, None, None]}, p1=[1.1, 1.4], restart=[0, 1]
    )
    best = best_exponents(cube, "rescaled_kmeans_ari").squeeze()
    assert float(best.best) == pytest.approx(0.7)
    assert float(best.p1) == 1.4
    assert float(best.spread) == pytest.approx(np.sqrt(0.02))


@pytest.mark.parametrize("variable", ["imwk_ari", "rescaled_kmeans_ari", "rescaled_imwk_ari"])
def test_best_of_a_partial_cube_is_that_of_plain_numpy(tmp_path: Path, variable: str) -> None:
    cube = partial_cube(tmp_path)
    per_dataset = best_exponents(cube, variable).compute()
    average = best_average(cube, variable).compute()
    for config in cube.config.values:
        for normalisation in cube.normalisation.values:
            at = {"config": config, "normalisation": normalisation}
            grids = _plain_scores(cube[variable].sel(at))
            _assert_best(per_dataset.sel(at), grids, cube)
            _assert_best_average(average.sel(at), grids, cube)
    assert average.datasets.sel(config="1000x6-3").values.tolist() == [3, 3]
    assert average.datasets.sel(config="1000x12-6").values.tolist() == [4, 4]


def _plain_scores(values: xr.DataArray) -> NDArray[np.float64]:
    array = values.values
    return array.sum(axis=-1) / array.shape[-1] if "restart" in values.dims else array


def _assert_best(found: xr.Dataset, grids: NDArray[np.float64], cube: xr.Dataset) -> None:
    for number, grid in enumerate(grids):
        one = found.isel(dataset=number)
        if np.isnan(grid).all():
            assert np.isnan(one.best)
            continue
        best, place = plain_best(grid)
        assert float(one.best) == pytest.approx(best, abs=1e-15)
        assert float(one.p1) == cube.p1[place[0]]


def _assert_best_average(found: xr.Dataset, grids: NDArray[np.float64], cube: xr.Dataset) -> None:
    means = np.apply_along_axis(lambda cell: plain_mean(cell)[0], 0, grids)
    _, place = plain_best(means)
    mean, spread, count = plain_mean(np.array([grid[place] for grid in grids]))
    assert float(found.average) == pytest.approx(mean)
    assert float(found.spread) == pytest.approx(spread)
    assert int(found.datasets) == count
    assert [float(found[dim]) for dim in ("p1", "p2")[: len(place)]] == [
        cube[dim].values[at] for dim, at in zip(("p1", "p2"), place, strict=False)
    ]


def test_queries_are_lazy(tmp_path: Path) -> None:
    cube = partial_cube(tmp_path)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("something was computed")

    with dask.config.set(scheduler=refuse):
        lazy = [
            expected_ari(cube),
            best_exponents(cube),
            best_average(cube),
            share_beating_kmeans(cube),
        ]
    assert all(query.chunks for query in lazy)


def test_grids_longer_than_a_chunk_are_searched_completely(tmp_path: Path) -> None:
    p1 = [1.0 + i / 10 for i in range(70)]
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec(count=1, configs=["1000x6-3"], p1=p1))
    fill(location)
    cube = open_cube(location)
    values = cube.rescaled_imwk_ari.values
    assert best_exponents(cube).best.values.tolist() == values.max(axis=(-1, -2)).tolist()


def test_a_variable_that_the_sweep_did_not_compute_is_refused(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec(parts=["imwk"], restarts=0))
    with pytest.raises(InvalidInputError, match="its sweep does not compute kmeans"):
        expected_ari(open_cube(location))


def test_kmeans_has_no_best_exponents() -> None:
    with pytest.raises(InvalidInputError, match="kmeans_ari has no exponents"):
        best_exponents(by_hand(), "kmeans_ari")
