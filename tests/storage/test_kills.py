"""Writers that are killed, and writers side by side: no result is lost, none is half there."""

from itertools import cycle
from pathlib import Path
from random import Random
from typing import Any

import pytest
import xarray as xr

from pipeline.block import whole_tile
from pipeline.spec import Tile
from storage import (
    create_cube,
    mark_missing,
    open_cube,
    read_ledger,
    todo,
    verify_cube,
    write_tile,
)
from tests.storage.made_up import comparable, fill, made_up, plain, small_spec
from tests.storage.processes import CONTEXT

SPEC = small_spec(count=5)


def write_and_forget(location: Path, started: Any, seed: int) -> None:
    """Write tiles for ever; forget each a little later, so that all kinds of writes go on."""
    started.set()
    tiles = list(SPEC.tiles)
    Random(seed).shuffle(tiles)
    for place, tile in enumerate(cycle(tiles)):
        write_tile(location, tile, [made_up(SPEC, whole_tile(SPEC, tile))])
        if place % 3 == 0:
            mark_missing(location, [tiles[place % len(tiles) - 1]])


def test_after_any_of_15_kills_a_tile_that_is_done_is_whole(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    random = Random(15)
    partly_written = 0
    for kill in range(15):
        started = CONTEXT.Event()
        writer = CONTEXT.Process(target=write_and_forget, args=(location, started, kill))
        writer.start()
        assert started.wait(60)
        writer.join(random.uniform(0.05, 0.6))
        assert writer.exitcode is None
        writer.kill()
        writer.join()
        found = verify_cube(location)
        assert found.damaged == {}
        assert found.checked == len(read_ledger(location).done)
        # A missing tile with some of its results shows that the kill came amid its writes.
        written = plain(location).kmeans_ari.notnull().any("restart").sum().item()
        partly_written += written > found.checked
    assert partly_written > 0
    fill(location)
    create_cube(tmp_path / "undisturbed.zarr", SPEC)
    fill(tmp_path / "undisturbed.zarr")
    xr.testing.assert_identical(
        comparable(open_cube(location)), comparable(open_cube(tmp_path / "undisturbed.zarr"))
    )


def write_all(location: Path, tiles: list[Tile]) -> None:
    fill(location, tiles)


@pytest.mark.parametrize("shared", [False, True], ids=["own tiles", "the same tiles"])
def test_writers_side_by_side_lose_nothing(tmp_path: Path, shared: bool) -> None:
    location, alone = tmp_path / "cube.zarr", tmp_path / "alone.zarr"
    for here in (location, alone):
        create_cube(here, SPEC)
    shares = [list(SPEC.tiles) if shared else list(SPEC.tiles[first::4]) for first in range(4)]
    writers = [CONTEXT.Process(target=write_all, args=(location, tiles)) for tiles in shares]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        read_ledger(location)  # may be read at any moment
        open_cube(location)
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert not todo(location)
    fill(alone)
    xr.testing.assert_identical(comparable(open_cube(location)), comparable(open_cube(alone)))
