from pathlib import Path

import numpy as np
import xarray as xr

from pipeline.spec import PARTS
from storage import create_cube, extend_cube, open_cube
from storage.query import compare_cubes
from storage.tiles import mark_failed, mark_missing
from tests.storage.made_up import fill, small_spec


def full_cube(location: Path) -> Path:
    create_cube(location, small_spec())
    fill(location)
    return location


def differing(first: xr.Dataset, second: xr.Dataset) -> dict[str, int]:
    found = compare_cubes(first, second).differing
    counts = dict(zip(found["variable"].values.tolist(), found.values.tolist(), strict=True))
    return {name: count for name, count in counts.items() if count}


def test_the_order_of_coordinates_does_not_matter(tmp_path: Path) -> None:
    cube = open_cube(full_cube(tmp_path / "cube.zarr"))
    shuffled = cube.isel(p1=[2, 0, 1], config=[1, 0])
    assert differing(cube, shuffled) == {}
    assert int(compare_cubes(cube, shuffled).cells.sel(variable="rescaled_imwk_ari")) == 8 * 6


def test_a_cube_extended_in_steps_equals_one_created_at_once(tmp_path: Path) -> None:
    grown, whole = tmp_path / "grown.zarr", full_cube(tmp_path / "whole.zarr")
    create_cube(grown, small_spec(p1=[1.4], count=1))
    fill(grown)
    extend_cube(grown, small_spec())
    fill(grown)
    assert differing(open_cube(grown), open_cube(whole)) == {}


def test_one_different_value_is_found(tmp_path: Path) -> None:
    cube = open_cube(full_cube(tmp_path / "cube.zarr"))
    other = cube.load().copy(deep=True)
    other.imwk_ari[0, 1, 0, 2] += 0.25
    assert differing(cube, other) == {"imwk_ari": 1}
    found = compare_cubes(cube, other).sel(variable="imwk_ari")
    assert np.isclose(found.largest_difference, 0.25)


def test_a_tile_that_one_cube_lacks_differs(tmp_path: Path) -> None:
    whole, lacking = full_cube(tmp_path / "whole.zarr"), full_cube(tmp_path / "lacking.zarr")
    tile = small_spec().tiles[0]
    mark_missing(lacking, [tile])
    found = differing(open_cube(whole), open_cube(lacking))
    assert (found["kmeans_ari"], found["rescaled_imwk_clusters"], found["status"]) == (3, 6, 1)
    mark_failed(lacking, tile, "why")
    assert differing(open_cube(whole), open_cube(lacking))["error"] == 1


def test_variables_that_one_cube_lacks_differ(tmp_path: Path) -> None:
    plain, scored = full_cube(tmp_path / "plain.zarr"), tmp_path / "scored.zarr"
    create_cube(scored, small_spec(scores=["silhouette"]))
    fill(scored)
    for first, second in ((plain, scored), (scored, plain)):
        found = differing(open_cube(first), open_cube(second))
        assert set(found) == {f"{part}_silhouette" for part in PARTS}
        assert found["imwk_silhouette"] == 8 * 3


def test_equal_infinities_do_not_differ() -> None:
    cube = xr.DataArray([np.inf, np.inf, 0.5], {"p1": [1.1, 1.4, 2.0]})
    first = cube.to_dataset(name="imwk_davies_bouldin")
    second = cube.copy(data=[np.inf, 0.25, 0.5]).to_dataset(name="imwk_davies_bouldin")
    assert differing(first, first) == {}
    assert differing(first, second) == {"imwk_davies_bouldin": 1}


def test_labels_that_one_cube_lacks_differ(tmp_path: Path) -> None:
    cube = open_cube(full_cube(tmp_path / "cube.zarr"))
    found = differing(cube, cube.isel(dataset=[0]))
    assert (found["status"], found["imwk_ari"]) == (4, 12)


def test_seconds_are_not_compared(tmp_path: Path) -> None:
    cube = open_cube(full_cube(tmp_path / "cube.zarr"))
    assert differing(cube, cube.assign(tile_seconds=cube.tile_seconds + 1)) == {}
