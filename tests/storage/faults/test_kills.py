"""Writers that are killed, and concurrent writers: no result is lost or incomplete."""

from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
import xarray as xr

from pipeline.spec import KEEP, Tile
from pipeline.spec.blocks import whole_tile
from storage import create_cube, open_cube, read_ledger, verify_cube
from storage.tiles import mark_missing, write_tile
from tests.storage.made_up import (
    assert_same_kept,
    comparable,
    fill,
    made_up,
    plain,
    small_spec,
)
from tests.storage.processes import CONTEXT

SPEC = small_spec(count=5, parts=["kmeans", "imwk"], keep=KEEP)


def remove_and_write(location: Path, started: Any, seed: int) -> None:
    """Remove and write one tile after the other, endlessly: most kills interrupt a tile."""
    started.set()
    tiles = list(SPEC.tiles)
    Random(seed).shuffle(tiles)
    for tile in cycle(tiles):
        mark_missing(location, [tile])
        write_tile(location, tile, [made_up(SPEC, whole_tile(SPEC, tile))])


def kill_a_writer(location: Path, seed: int) -> None:
    started = CONTEXT.Event()
    writer = CONTEXT.Process(target=remove_and_write, args=(location, started, seed))
    writer.start()
    assert started.wait(60)
    writer.join(Random(seed).uniform(0.1, 0.6))
    assert writer.exitcode is None
    writer.kill()
    writer.join()


@pytest.mark.slow
def test_after_each_of_15_kills_done_tiles_are_complete(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    kills = within_a_tile = 0
    while kills < 15 or not within_a_tile:
        kill_a_writer(location, seed=kills)
        kills += 1
        found = verify_cube(location)
        assert found.damaged == {}
        assert found.checked == len(read_ledger(location).done)
        # More tiles have results than are done: the kill interrupted the writing of one.
        written = plain(location).kmeans_ari.notnull().any("restart").sum().item()
        within_a_tile += written > found.checked
        assert kills < 60, "no kill interrupted a tile, so this test shows nothing"
    fill(location)
    create_cube(tmp_path / "undisturbed.zarr", SPEC)
    fill(tmp_path / "undisturbed.zarr")
    xr.testing.assert_identical(
        comparable(open_cube(location)), comparable(open_cube(tmp_path / "undisturbed.zarr"))
    )
    assert_same_kept(location, tmp_path / "undisturbed.zarr")


def write_all(location: Path, tiles: list[Tile]) -> None:
    fill(location, tiles)


@pytest.mark.parametrize("shared", [False, True], ids=["own tiles", "the same tiles"])
def test_concurrent_writers_lose_nothing(tmp_path: Path, shared: bool) -> None:
    location, alone = tmp_path / "cube.zarr", tmp_path / "alone.zarr"
    for here in (location, alone):
        create_cube(here, SPEC)
    shares = [list(SPEC.tiles) if shared else list(SPEC.tiles[first::4]) for first in range(4)]
    writers = [CONTEXT.Process(target=write_all, args=(location, tiles)) for tiles in shares]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        read_ledger(location)  # can be read at any moment
        open_cube(location)
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert not read_ledger(location).todo
    fill(alone)
    xr.testing.assert_identical(comparable(open_cube(location)), comparable(open_cube(alone)))
    assert_same_kept(location, alone)
