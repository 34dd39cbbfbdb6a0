"""A handle is opened once and used many times, while other processes may extend the cube."""

from pathlib import Path

import pytest
import xarray as xr

from pipeline.spec.blocks import whole_tile
from storage import CubeNotFoundError, create_cube, extend_cube, open_cube, read_ledger
from storage.handle import CubeHandle, open_handle
from storage.ledger import is_done
from storage.tiles import mark_failed, write_tile
from tests.storage.made_up import comparable, fill, made_up, small_spec

SPEC = small_spec()
LARGER = small_spec(count=3, p1=[1.1, 1.3, 1.4, 2.0])
TILE = SPEC.tiles[0]


@pytest.fixture
def handle(tmp_path: Path) -> CubeHandle:
    """Return the handle of an empty cube."""
    create_cube(tmp_path / "cube.zarr", SPEC)
    return open_handle(tmp_path / "cube.zarr")


def write(handle: CubeHandle) -> None:
    write_tile(handle, TILE, [made_up(SPEC, whole_tile(SPEC, TILE))])


def test_the_current_handle_is_the_same_until_the_cube_is_extended(handle: CubeHandle) -> None:
    write(handle)
    mark_failed(handle, SPEC.tiles[1], "died")
    assert handle.current() is handle
    extend_cube(handle.location, LARGER)
    current = handle.current()
    assert (current.spec, len(current.grids)) == (LARGER, 2)
    assert current.axes.p1 == (1.1, 1.4, 2.0, 1.3)
    assert current.current() is current


def test_a_deleted_cube_has_no_current_handle(handle: CubeHandle) -> None:
    Path(handle.location).rename(f"{handle.location}.moved")
    with pytest.raises(CubeNotFoundError):
        handle.current()


def test_a_tile_is_written_for_the_older_grid_after_an_extension(handle: CubeHandle) -> None:
    extend_cube(handle.location, LARGER)
    write(handle)
    (work,) = (work for work in read_ledger(handle.location).todo if work.tile == TILE)
    assert {block.p1 for block in work.blocks} == {(1.3,)}
    assert is_done(handle, TILE)  # for the sweep that the handle was opened with
    assert not is_done(handle.location, TILE)


def test_a_tile_of_a_later_extension_is_done_for_an_older_handle(handle: CubeHandle) -> None:
    extend_cube(handle.location, LARGER)
    fill(handle.location)
    assert is_done(handle, TILE)


def test_results_are_placed_on_the_axes_of_the_extended_cube(handle: CubeHandle) -> None:
    extend_cube(handle.location, LARGER)
    fill(handle.location)
    before = comparable(open_cube(handle.location))
    write(handle)
    xr.testing.assert_identical(comparable(open_cube(handle.location)), before)


def test_a_tile_of_an_extension_is_found_by_the_current_handle(handle: CubeHandle) -> None:
    extend_cube(handle.location, LARGER)
    mark_failed(handle.current(), LARGER.tiles[-1], "died")
    assert set(read_ledger(handle.location).failed) == {LARGER.tiles[-1]}
