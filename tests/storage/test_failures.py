"""Failed tiles keep their results and can be tried again; tiles are locked while they change."""

from collections.abc import Callable
from pathlib import Path

import pytest
import xarray as xr

from pipeline.spec.blocks import whole_tile
from storage import Status, create_cube, extend_cube, open_cube, read_ledger, reset_failed
from storage.backends.location import backend_at
from storage.layout.axes import TileIndex
from storage.tiles import mark_failed, mark_missing, write_tile
from tests.storage.made_up import comparable, fill, made_up, small_spec
from tests.storage.processes import CONTEXT

SPEC = small_spec()
LARGER = small_spec(p1=[1.1, 1.3, 1.4, 2.0])
TILE = SPEC.tiles[0]


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return a cube with all its results."""
    create_cube(tmp_path / "cube.zarr", SPEC)
    fill(tmp_path / "cube.zarr")
    return tmp_path / "cube.zarr"


def test_a_tile_that_fails_in_an_extension_keeps_its_results(cube: Path) -> None:
    before = open_cube(cube).load()
    extend_cube(cube, LARGER)
    mark_failed(cube, TILE, "died on new exponents")
    ledger = read_ledger(cube)
    assert ledger.failed == {TILE: "died on new exponents"}
    assert ledger.states[TILE] == Status.FAILED
    assert TILE not in ledger.missing
    shown = open_cube(cube).sel(p1=before.p1)
    xr.testing.assert_identical(comparable(shown.drop_vars("error")), comparable_values(before))


def comparable_values(cube: xr.Dataset) -> xr.Dataset:
    return comparable(cube.drop_vars("error"))


def test_a_forgiven_tile_lacks_only_the_cells_of_the_extension(cube: Path) -> None:
    extend_cube(cube, LARGER)
    mark_failed(cube, TILE, "died on new exponents")
    reset_failed(cube, [TILE])
    assert not read_ledger(cube).failed
    (work,) = (work for work in read_ledger(cube).todo if work.tile == TILE)
    assert {block.p1 for block in work.blocks} == {(1.3,)}
    fill(cube)
    at_once = cube.with_name("other.zarr")
    create_cube(at_once, LARGER)
    fill(at_once)
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(at_once)))


def test_a_done_tile_stays_done_when_it_is_forgiven(cube: Path) -> None:
    reset_failed(cube, [TILE])
    assert read_ledger(cube).states[TILE] == Status.DONE


def write(cube: Path) -> None:
    write_tile(cube, TILE, [made_up(SPEC, whole_tile(SPEC, TILE))])


def fail(cube: Path) -> None:
    mark_failed(cube, TILE, "died")


def remove(cube: Path) -> None:
    mark_missing(cube, [TILE])


@pytest.mark.parametrize("change", [write, fail, remove])
def test_a_process_waits_while_another_changes_the_same_tile(
    cube: Path, change: Callable[[Path], None]
) -> None:
    index: TileIndex = (0, 0, SPEC.normalisations.index(TILE.normalisation))
    with backend_at(cube).tile_locked(index):
        other = CONTEXT.Process(target=change, args=(cube,))
        other.start()
        other.join(3)
        assert other.is_alive()
    other.join(60)
    assert other.exitcode == 0


def test_a_process_does_not_wait_for_other_tiles(cube: Path) -> None:
    index: TileIndex = (1, 1, 1)
    assert open_cube(cube).sizes["config"] == 2
    with backend_at(cube).tile_locked(index):
        other = CONTEXT.Process(target=write, args=(cube,))
        other.start()
        other.join(60)
        assert other.exitcode == 0
