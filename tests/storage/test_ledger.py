"""The ledger agrees with the status that plain xarray reads."""

from pathlib import Path

import numpy as np
import pytest

from pipeline.spec import SweepSpec
from storage import Counts, Status, create_cube, extend_cube, open_cube, read_ledger
from storage.handle import open_handle
from storage.tile_arrays import read_tile_array
from storage.tiles import LONGEST_ERROR, mark_failed, mark_missing
from tests.storage.made_up import CONFIGS, fill, plain, small_spec

SPEC = small_spec()


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return a cube with 3 tiles done and 2 failed."""
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    fill(location, SPEC.tiles[:3])
    for number, tile in enumerate(SPEC.tiles[3:5]):
        mark_failed(location, tile, f"reason {number}, in Zürich")
    return location


def test_tiles_are_counted_by_their_state(cube: Path) -> None:
    ledger = read_ledger(cube)
    assert ledger.counts == Counts(done=3, failed=2, missing=3)
    assert ledger.counts.total == len(SPEC.tiles)
    assert ledger.done == SPEC.tiles[:3]
    assert ledger.missing == SPEC.tiles[5:]
    assert ledger.failed == {
        SPEC.tiles[3]: "reason 0, in Zürich",
        SPEC.tiles[4]: "reason 1, in Zürich",
    }
    assert ledger.not_part == 0


def test_tiles_are_counted_by_configuration(cube: Path) -> None:
    # breadth-first: data set 0 of both configurations comes before data set 1 of any
    assert read_ledger(cube).by_config == {
        "1000x6-3": Counts(done=2, failed=1, missing=1),
        "1000x12-6": Counts(done=1, failed=1, missing=2),
    }


def test_tiles_are_counted_by_data_set(cube: Path) -> None:
    ledger = read_ledger(cube)
    assert ledger.counts_of(None, None) == ledger.counts
    assert ledger.counts_of("1000x6-3", None) == ledger.by_config["1000x6-3"]
    assert ledger.counts_of("1000x6-3", 0) == Counts(done=2, failed=0, missing=0)
    assert ledger.counts_of(None, 1) == Counts(done=0, failed=1, missing=3)


@pytest.mark.parametrize("name", ["status", "grid"])
def test_tile_arrays_equal_those_that_zarr_reads(cube: Path, name: str) -> None:
    read = read_tile_array(open_handle(cube), name)
    assert read.damaged == ()
    np.testing.assert_array_equal(read.values, plain(cube)[name].values)
    assert read.values.dtype == plain(cube)[name].dtype


def test_failed_tiles_are_not_listed_as_missing(cube: Path) -> None:
    assert [work.tile for work in read_ledger(cube).todo] == list(SPEC.tiles[5:])
    mark_missing(cube, read_ledger(cube).failed)
    assert [work.tile for work in read_ledger(cube).todo] == list(SPEC.tiles[3:])


def test_a_long_error_is_truncated(cube: Path) -> None:
    mark_failed(cube, SPEC.tiles[7], "x" * 10 * LONGEST_ERROR)
    assert read_ledger(cube).failed[SPEC.tiles[7]] == "x" * LONGEST_ERROR


def only_one_of_the_second(spec: SweepSpec, config: str) -> int:
    """Return fewer data sets for one configuration than for the others."""
    assert spec.datasets.synthetic
    return 1 if config == CONFIGS[1] else spec.datasets.synthetic.count


def test_tiles_outside_the_sweep_are_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = tmp_path / "cube.zarr"
    with monkeypatch.context() as patched:
        patched.setattr(SweepSpec, "dataset_count", only_one_of_the_second)
        create_cube(location, SPEC)
        fill(location)
        outside = plain(location).sel(config=CONFIGS[1], dataset=1)
        assert (outside.status == Status.NOT_PART).all()
        assert (read_ledger(location).counts.done, read_ledger(location).not_part) == (6, 2)
        extend_cube(location, small_spec(count=3))
        assert (plain(location).status == Status.NOT_PART).sum() == 4
        assert (read_ledger(location).counts.done, read_ledger(location).not_part) == (6, 4)
    # a later spec includes them
    extend_cube(location, small_spec(count=4))
    assert not (plain(location).status == Status.NOT_PART).any()
    fill(location)
    assert (open_cube(location).status == Status.DONE).all()
