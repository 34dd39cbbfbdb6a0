"""An open cube is lazy, and raises the errors of this package when it is computed."""

from collections.abc import Callable
from dataclasses import asdict
from errno import EIO
from pathlib import Path

import pytest
import xarray as xr
from zarr.storage import LocalStore

from storage import CubeError, DamagedCubeError, Status, create_cube, open_cube
from storage.query import best_average, results_of, scores, share_beating_kmeans
from storage.tiles import mark_failed, mark_missing
from tests.storage.made_up import fill, plain, small_spec


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return a cube with all its results."""
    create_cube(tmp_path / "cube.zarr", small_spec())
    fill(tmp_path / "cube.zarr")
    return tmp_path / "cube.zarr"


def chunk(cube: Path) -> Path:
    """Return a chunk of a result."""
    return next((cube / "rescaled_imwk_ari").glob("c.1.*"))


COMPUTATIONS: dict[str, Callable[[xr.Dataset], object]] = {
    "load": lambda opened: opened.load(),
    "values": lambda opened: opened.rescaled_imwk_ari.values,
    "mean": lambda opened: opened.rescaled_imwk_ari.mean().compute(),
    "scores": lambda opened: scores(opened, "rescaled_imwk_ari").compute(),
    "best average": lambda opened: best_average(opened).compute(),
    "share": lambda opened: share_beating_kmeans(opened).load(),
}


@pytest.mark.parametrize("compute", COMPUTATIONS.values(), ids=COMPUTATIONS)
def test_a_damaged_result_is_an_error_with_a_remedy(
    cube: Path, compute: Callable[[xr.Dataset], object]
) -> None:
    opened = open_cube(cube)
    chunk(cube).write_bytes(chunk(cube).read_bytes()[:-3])
    message = rf"read rescaled_imwk_ari in the cube {cube}, .*damaged.* imwk verify CUBE --repair"
    with pytest.raises(DamagedCubeError, match=message):
        compute(opened)


def test_a_disk_that_fails_is_not_taken_for_damage(
    cube: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise OSError(EIO, "Input/output error")

    opened = open_cube(cube)
    monkeypatch.setattr(LocalStore, "get", fail)
    with pytest.raises(CubeError, match=r"read \w+ in .*: Input/output error") as caught:
        opened.imwk_ari.load()
    assert not isinstance(caught.value, DamagedCubeError)


def test_an_error_of_the_computation_is_not_taken_for_damage(cube: Path) -> None:
    def fail(_: object) -> None:
        raise ValueError("not a matter of storage")

    lazy = xr.apply_ufunc(
        fail, open_cube(cube).imwk_ari, dask="parallelized", output_dtypes=[float]
    )
    with pytest.raises(ValueError, match="not a matter of storage") as caught:
        lazy.compute()
    assert not isinstance(caught.value, CubeError)


def test_other_results_of_a_damaged_cube_can_be_read(cube: Path) -> None:
    chunk(cube).write_bytes(chunk(cube).read_bytes()[:-3])
    assert open_cube(cube).imwk_ari.notnull().all()


def test_an_open_cube_has_the_values_and_types_of_plain_xarray(cube: Path) -> None:
    opened, expected = open_cube(cube), plain(cube)
    ordered = expected.sel({dim: opened[dim] for dim in opened.dims})
    for name in expected:
        assert opened[name].dtype == (object if name == "error" else expected[name].dtype)
        assert opened[name].attrs == expected[name].attrs
        assert opened[name].dims == expected[name].dims
        xr.testing.assert_equal(opened[name].load(), ordered[name])


def test_a_configuration_is_one_chunk_of_dask(cube: Path) -> None:
    assert open_cube(cube).rescaled_imwk_ari.chunks == ((1, 1), (2,), (2,), (3,), (2,))


def test_attributes_follow_the_habits_of_cf(cube: Path) -> None:
    opened = plain(cube)
    assert {"title", "source", "references"} <= set(opened.attrs)
    for name, variable in opened.variables.items():
        assert variable.attrs["long_name"], name
        assert variable.dtype.kind == "T" or name in ("status", "grid") or variable.attrs["units"]
    status = opened.status.attrs
    meanings = dict(zip(status["flag_values"], status["flag_meanings"].split(), strict=True))
    assert meanings == {each.value: each.name.lower() for each in Status}


def test_an_open_cube_survives_netcdf(cube: Path, tmp_path: Path) -> None:
    """SciPy writes NetCDF 3, which has the fewest types."""
    spec = small_spec()
    mark_missing(cube, spec.tiles[:1])
    mark_failed(cube, spec.tiles[0], "the worker died")
    open_cube(cube).to_netcdf(tmp_path / "cube.nc", engine="scipy")
    copy = xr.open_dataset(tmp_path / "cube.nc", engine="scipy").load()
    xr.testing.assert_equal(copy, open_cube(cube).load())
    assert "the worker died" in copy.error
    assert results_of(copy) == results_of(open_cube(cube))
    xr.testing.assert_equal(best_average(copy), best_average(open_cube(cube)).load())


def test_open_cubes_can_be_merged(cube: Path, tmp_path: Path) -> None:
    create_cube(tmp_path / "other.zarr", small_spec(configs=["1000x6-3 +3NF"], count=3))
    fill(tmp_path / "other.zarr")
    parts = [open_cube(cube), open_cube(tmp_path / "other.zarr")]
    merged = xr.merge(parts, join="outer", compat="no_conflicts").load()
    for part in parts:
        here = merged.sel(config=part.config, dataset=part.dataset)
        xr.testing.assert_equal(here, part.load().astype(here.dtypes))
    assert merged.imwk_ari.sel(config="1000x6-3", dataset=2).isnull().all()
    merged.to_netcdf(tmp_path / "merged.nc", engine="scipy")


def test_errors_are_read_when_they_are_needed(cube: Path) -> None:
    opened, tile = open_cube(cube), small_spec().tiles[0]
    mark_missing(cube, [tile])
    mark_failed(cube, tile, "later")
    assert opened.error.sel(asdict(tile)).item() == "later"
