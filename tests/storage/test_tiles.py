"""Results are read back as they were written, and only complete ones are written."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
import zarr

from pipeline.execution.block import BlockResult
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block, split_block
from storage import CubeError, Status, create_cube, open_cube, read_ledger
from storage.layout.schema import RESULTS, TILE_DIMS
from storage.tiles import mark_failed, mark_missing, write_tile
from tests.storage.made_up import comparable, fill, made_up, plain, small_spec

SPEC = small_spec()
TILE = SPEC.tiles[3]


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return an empty cube."""
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    return location


def complete(tile: Tile, spec: SweepSpec = SPEC) -> BlockResult:
    return made_up(spec, Block(tile, spec.parts, spec.p1, spec.p2))


def of_tile(dataset: xr.Dataset, tile: Tile) -> xr.Dataset:
    return dataset.sel(config=tile.config, dataset=tile.dataset, normalisation=tile.normalisation)


@pytest.mark.parametrize("opened", [plain, open_cube])
def test_every_result_is_read_back_bit_for_bit(
    cube: Path, opened: Callable[[Path], xr.Dataset]
) -> None:
    fill(cube)
    dataset = opened(cube)
    for tile in SPEC.tiles:
        stored = of_tile(dataset, tile)
        for name, values in complete(tile).arrays.items():
            np.testing.assert_array_equal(stored[name].values, values)
            assert stored[name].dims == RESULTS[name].dims


def test_blocks_are_placed_by_their_exponents_in_any_order(cube: Path) -> None:
    blocks = split_block(Block(TILE, SPEC.parts, SPEC.p1, SPEC.p2), size=1)
    write_tile(cube, TILE, [made_up(SPEC, block) for block in reversed(blocks)])
    stored = of_tile(open_cube(cube), TILE)
    np.testing.assert_array_equal(
        stored.rescaled_imwk_ari.values, complete(TILE).arrays["rescaled_imwk_ari"]
    )


def test_writing_a_tile_twice_gives_the_same_cube(cube: Path) -> None:
    fill(cube)
    once = plain(cube)
    write_tile(cube, TILE, [complete(TILE)])
    xr.testing.assert_identical(plain(cube), once)


def test_plain_xarray_reads_labels_and_types(cube: Path) -> None:
    write_tile(cube, TILE, [complete(TILE)])
    dataset = plain(cube)
    assert dataset.config.values.tolist() == list(SPEC.configs)
    assert dataset.sel(p1=1.4, p2=3.0).rescaled_imwk_ari.notnull().sum() == 1
    assert dataset.status.dtype == np.int8
    # 0 clusters are read as NaN, so a mean over all tiles is one over the results
    assert dataset.imwk_clusters.mean() == complete(TILE).arrays["imwk_clusters"].mean()
    assert of_tile(dataset, TILE).tile_seconds == 0.5


def test_every_chunk_belongs_to_one_tile_and_has_a_checksum(cube: Path) -> None:
    for name, array in zarr.open_group(cube, mode="r").arrays():
        document = array.metadata.to_dict()
        codecs: Any = document["codecs"]
        assert codecs[-1]["name"] == "crc32c", name
        if name in RESULTS:
            assert array.chunks[:3] == (1, 1, 1)
            assert all(
                size <= chunk for size, chunk in zip(array.shape[3:], array.chunks[3:], strict=True)
            )


def test_a_tile_that_is_not_done_is_read_as_nan(cube: Path) -> None:
    write_tile(cube, TILE, [complete(TILE)])
    mark_failed(cube, SPEC.tiles[0], "died")
    results = open_cube(cube)[list(RESULTS)]
    for tile in SPEC.tiles:
        nothing = of_tile(results, tile).isnull().all()
        assert all(bool(nothing[name]) == (tile != TILE) for name in RESULTS)


def test_results_without_status_are_not_shown(cube: Path) -> None:
    write_tile(cube, TILE, [complete(TILE)])
    group = zarr.open_group(cube, mode="r+")
    status = group["status"]
    assert isinstance(status, zarr.Array)
    status[...] = Status.MISSING  # the state after a kill just before the last write
    assert bool(open_cube(cube)[list(RESULTS)].isnull().all().to_array().all())
    assert len(read_ledger(cube).todo) == len(SPEC.tiles)


def without(name: str) -> Callable[[BlockResult], BlockResult]:
    return lambda result: replace(
        result, arrays={key: array for key, array in result.arrays.items() if key != name}
    )


def changed(name: str, value: Any) -> Callable[[BlockResult], BlockResult]:
    def change(result: BlockResult) -> BlockResult:
        array = result.arrays[name].astype(np.float64)
        array.flat[1] = value
        return replace(result, arrays={**result.arrays, name: array})

    return change


BAD: dict[str, tuple[Callable[[BlockResult], BlockResult], str]] = {
    "nothing computed": (lambda result: replace(result, arrays={}), r"not complete.*kmeans_ari"),
    "a part is missing": (without("kmeans_ari"), r"not complete.*missing in kmeans_ari"),
    "NaN": (changed("imwk_ari", np.nan), r"imwk_ari lacks 1 of 3 values"),
    "above 1": (changed("kmeans_ari", 1.01), r"kmeans_ari has 1\.01, outside -1 to 1"),
    "no clusters": (changed("imwk_clusters", 0), r"imwk_clusters has 0\.0, outside 1 to"),
    "too many clusters": (changed("rescaled_imwk_clusters", 7), r"has 7\.0, outside 1 to [36]"),
    "too many rounds": (changed("imwk_iterations", 2.0**32), r"outside 1 to 4294967295"),
    "shape": (
        lambda result: replace(result, arrays={"imwk_ari": np.ones(7)}),
        r"imwk_ari of .* has the shape \(7,\), not \(3,\)",
    ),
    "unknown": (lambda result: replace(result, arrays={"ari": np.ones(3)}), r"ari is not a result"),
    "other exponents": (
        lambda result: replace(result, block=replace(result.block, p1=(1.1, 1.4, 2.5))),
        r"no p1 = 2\.5.*imwk extend",
    ),
}


@pytest.mark.parametrize(("spoil", "message"), BAD.values(), ids=BAD)
def test_bad_results_are_refused_and_nothing_is_written(
    cube: Path, spoil: Callable[[BlockResult], BlockResult], message: str
) -> None:
    write_tile(cube, SPEC.tiles[0], [complete(SPEC.tiles[0])])
    before = plain(cube)
    with pytest.raises(CubeError, match=message):
        write_tile(cube, TILE, [spoil(complete(TILE))])
    xr.testing.assert_identical(plain(cube), before)


def test_a_bug_is_not_reported_as_damage(cube: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def wrong(*_: object) -> None:
        raise ValueError("a bug")

    monkeypatch.setattr("storage.tiles._checked", wrong)
    with pytest.raises(ValueError, match=r"^a bug$"):
        write_tile(cube, TILE, [complete(TILE)])
    assert TILE in read_ledger(cube).missing


def test_a_tile_of_another_sweep_is_refused(cube: Path) -> None:
    with pytest.raises(CubeError, match=r"no tile 1000x6-3, data set 9, range.*imwk extend"):
        mark_failed(cube, Tile("1000x6-3", 9, "range"), "died")


def test_a_tile_that_is_done_cannot_fail_any_more(cube: Path) -> None:
    write_tile(cube, TILE, [complete(TILE)])
    mark_failed(cube, TILE, "a second submit gave up on it")
    assert read_ledger(cube).states[TILE] == Status.DONE


def test_a_failed_tile_that_succeeds_later_has_no_error(cube: Path) -> None:
    mark_failed(cube, TILE, "died")
    write_tile(cube, TILE, [complete(TILE)])
    assert of_tile(plain(cube), TILE).error == ""


def test_a_tile_that_is_marked_as_missing_leaves_no_results(cube: Path) -> None:
    empty = plain(cube)
    fill(cube)
    mark_missing(cube, SPEC.tiles)
    xr.testing.assert_identical(plain(cube), empty)


@pytest.mark.parametrize("part", SPEC.parts)
def test_a_sweep_of_one_part_is_complete_with_that_part(tmp_path: Path, part: str) -> None:
    spec = small_spec(parts=[part])
    create_cube(tmp_path / "cube.zarr", spec)
    fill(tmp_path / "cube.zarr")
    assert not read_ledger(tmp_path / "cube.zarr").todo
    shown = open_cube(tmp_path / "cube.zarr")[list(RESULTS)].notnull().any()
    assert {name for name in RESULTS if shown[name]} == {
        name for name, variable in RESULTS.items() if variable.part == part
    }


def test_a_sweep_without_restarts_has_a_cube(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec(restarts=0))
    fill(tmp_path / "cube.zarr")
    assert plain(tmp_path / "cube.zarr").sizes["restart"] == 0
    assert not read_ledger(tmp_path / "cube.zarr").todo


def test_the_order_of_writing_does_not_matter(cube: Path, tmp_path: Path) -> None:
    fill(cube)
    create_cube(tmp_path / "other.zarr", SPEC)
    for tile in reversed(SPEC.tiles):
        fill(tmp_path / "other.zarr", [tile])
    xr.testing.assert_identical(
        comparable(open_cube(cube)), comparable(open_cube(tmp_path / "other.zarr"))
    )


def test_tile_dimensions_come_first(cube: Path) -> None:
    assert all(plain(cube)[name].dims[:3] == TILE_DIMS for name in RESULTS)
