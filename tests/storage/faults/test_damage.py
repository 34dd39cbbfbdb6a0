"""Full and read-only disks, damaged and lost files: an error, and never a wrong number."""

import json
import shutil
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
import pytest
import xarray as xr
import zarr

from pipeline.spec.blocks import whole_tile
from storage import (
    CubeError,
    DamagedCubeError,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    verify_cube,
)
from storage.layout.schema import RESULTS, VARIABLES
from storage.layout.skeleton import DIMS
from storage.provenance import record_session
from storage.tiles import mark_failed, write_tile
from tests.storage.disks import make_read_only, small_disk
from tests.storage.made_up import comparable, fill, made_up, plain, small_spec

SPEC = small_spec(count=1)
TILE = SPEC.tiles[1]


@pytest.fixture(scope="module")
def undamaged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube with all its results; copy it before damaging it."""
    location = tmp_path_factory.mktemp("undamaged") / "cube.zarr"
    create_cube(location, SPEC)
    fill(location)
    return location


@pytest.fixture
def cube(undamaged: Path, tmp_path: Path) -> Path:
    """Return a copy of the undamaged cube."""
    return Path(shutil.copytree(undamaged, tmp_path / "cube.zarr"))


def chunks(location: Path) -> list[Path]:
    """Return all chunks that belong to tiles."""
    return sorted(path for name in VARIABLES for path in (location / name).glob("c.*"))


def check_never_wrong(location: Path, undamaged: Path) -> None:
    """Read a damaged cube: it gives an error, NaN or the right number."""
    try:
        seen, right = open_cube(location).load(), open_cube(undamaged).load()
    except (CubeError, ValueError, RuntimeError):
        return
    for name in RESULTS:
        differs = (seen[name] != right[name]) & seen[name].notnull()
        assert not differs.any(), name


def check_found_and_repaired(location: Path, undamaged: Path) -> None:
    """Check that damage is found and repaired, and that only its tile is computed again."""
    check_never_wrong(location, undamaged)
    found = verify_cube(location)
    assert len(found.damaged) == 1
    assert not found.repaired
    assert verify_cube(location, repair=True).damaged == found.damaged
    assert {work.tile for work in read_ledger(location).todo} == set(found.damaged)
    open_cube(location).load()  # the other tiles can be read
    fill(location)
    assert not verify_cube(location).damaged
    xr.testing.assert_identical(comparable(plain(location)), comparable(plain(undamaged)))


def test_damage_in_a_tile_that_is_not_done_is_found(cube: Path, undamaged: Path) -> None:
    chunk = next((cube / "imwk_ari").glob("c.*"))
    chunk.write_bytes(chunk.read_bytes()[:-3])
    (cube / "status" / chunk.name.removesuffix(".0")).unlink()
    check_found_and_repaired(cube, undamaged)


def test_no_damage_is_found_in_an_undamaged_cube(undamaged: Path) -> None:
    found = verify_cube(undamaged)
    assert (found.checked, found.damaged) == (len(SPEC.tiles), {})


@pytest.mark.parametrize("seed", range(20))
def test_a_truncated_chunk_is_found(cube: Path, undamaged: Path, seed: int) -> None:
    random = Random(seed)
    chunk = random.choice(chunks(cube))
    content = chunk.read_bytes()
    chunk.write_bytes(content[: random.randrange(len(content))])
    check_found_and_repaired(cube, undamaged)


@pytest.mark.slow
def test_flipped_bits_are_found_at_fifty_places(cube: Path, undamaged: Path) -> None:
    random = Random(1)
    for _ in range(50):
        chunk = random.choice(chunks(cube))
        content = bytearray(chunk.read_bytes())
        content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        before = chunk.read_bytes()
        chunk.write_bytes(content)
        assert len(verify_cube(cube).damaged) == 1, chunk
        check_never_wrong(cube, undamaged)
        chunk.write_bytes(before)
    assert not verify_cube(cube).damaged


@pytest.mark.parametrize("name", RESULTS)
def test_a_deleted_chunk_is_found(cube: Path, undamaged: Path, name: str) -> None:
    next((cube / name).glob("c.1.*")).unlink()
    check_found_and_repaired(cube, undamaged)


def test_a_tile_with_a_deleted_status_is_computed_again(cube: Path, undamaged: Path) -> None:
    (cube / "status" / "c.0.0.1").unlink()
    check_never_wrong(cube, undamaged)
    assert len(read_ledger(cube).todo) == 1
    fill(cube)
    xr.testing.assert_identical(comparable(plain(cube)), comparable(plain(undamaged)))


def test_a_deleted_grid_is_found(cube: Path, undamaged: Path) -> None:
    (cube / "grid" / "c.0.0.1").unlink()
    check_found_and_repaired(cube, undamaged)


def test_a_damaged_status_is_an_error_with_a_remedy(cube: Path) -> None:
    (cube / "status" / "c.0.0.1").write_bytes(b"\x01\x02")
    with pytest.raises(
        DamagedCubeError,
        match=r"status of .*, range in .*verify_cube\(cube, repair=True\).*verify CUBE --repair",
    ):
        read_ledger(cube)


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("kmeans_ari", 1.1, "has 1.1, outside -1 to 1"),
        ("rescaled_imwk_ari", np.nan, "lacks 1 of 6 values"),
        ("imwk_clusters", 4, "has 4, outside 1 to 3"),
        ("imwk_iterations", 0, "has 0, outside 1 to 4294967295"),
    ],
)
def test_results_that_cannot_be_right_are_found(
    cube: Path, name: str, value: float, reason: str
) -> None:
    array = zarr.open_array(cube / name, mode="r+")
    array[(0, 0, 1, *(0 for _ in RESULTS[name].dims))] = value
    assert verify_cube(cube).damaged == {TILE: (f"{name} {reason}",)}


def test_a_valid_chunk_of_another_array_is_found(cube: Path) -> None:
    for chunk in ("c.0.0.0.0", "c.0.0.1.0"):
        shutil.copy(cube / "imwk_ari" / chunk, cube / "kmeans_ari" / chunk)
    assert len(verify_cube(cube).damaged) == 2


@pytest.mark.parametrize("dim", DIMS)
def test_damaged_coordinates_are_an_error(cube: Path, dim: str) -> None:
    chunk = cube / dim / "c.0"
    chunk.write_bytes(chunk.read_bytes()[:-1])
    for work in (open_cube, read_ledger, verify_cube):
        with pytest.raises(DamagedCubeError, match=r"coordinates of .* damaged"):
            work(cube)


@pytest.mark.parametrize("dim", DIMS)
def test_lost_coordinates_are_an_error(cube: Path, dim: str) -> None:
    (cube / dim / "c.0").unlink()
    for work in (open_cube, read_ledger, verify_cube):
        with pytest.raises(DamagedCubeError, match=r"coordinates"):
            work(cube)


@pytest.mark.parametrize("name", ["", *RESULTS])
def test_changed_metadata_are_an_error(cube: Path, name: str) -> None:
    document = cube / name / "zarr.json"
    if name:
        content = json.loads(document.read_text())
        content["fill_value"] = 1
    else:
        content = json.loads(document.read_text())
        content["attributes"]["spec"]["seed"] = 1
    document.write_text(json.dumps(content))
    with pytest.raises(DamagedCubeError, match="damaged"):
        verify_cube(cube)


@pytest.mark.parametrize("length", [0, 1, 100, 1000])
def test_truncated_metadata_are_an_error(cube: Path, length: int) -> None:
    document = cube / "zarr.json"
    document.write_bytes(document.read_bytes()[:length])
    for work in (open_cube, read_ledger, verify_cube, partial(create_cube, spec=SPEC)):
        with pytest.raises(CubeError):
            work(cube)


def test_files_that_killed_writers_left_are_ignored(cube: Path, undamaged: Path) -> None:
    for chunk in chunks(cube):
        half = chunk.read_bytes()[: chunk.stat().st_size // 2]
        chunk.with_name(f"{chunk.name}.0123456789abcdef.partial").write_bytes(half)
    assert not verify_cube(cube).damaged
    assert not read_ledger(cube).todo
    xr.testing.assert_identical(plain(cube), plain(undamaged))


def test_a_full_disk_costs_only_one_tile_which_is_computed_again(tmp_path: Path) -> None:
    spec = small_spec(restarts=2000, count=3)
    with small_disk(tmp_path / "disk", "1m") as disk:
        location = disk / "cube.zarr"
        create_cube(location, spec)
        with pytest.raises(CubeError, match=r"write the tile .*No space left.*try again"):
            fill(location)
        done = read_ledger(location).done
        assert 0 < len(done) < len(spec.tiles)
        assert not verify_cube(location).damaged
        plain(location)
        shutil.copytree(location, tmp_path / "cube.zarr")
    fill(tmp_path / "cube.zarr")
    assert len(read_ledger(tmp_path / "cube.zarr").done) == len(spec.tiles)


def test_a_disk_that_is_too_small_is_left_without_a_cube(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "16k") as disk:
        with pytest.raises(CubeError, match=r"create the cube .*No space left"):
            create_cube(disk / "cube.zarr", SPEC)
        assert list(disk.iterdir()) == []


def test_an_extension_on_a_full_disk_does_not_change_the_cube(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "1m") as disk:
        location = disk / "cube.zarr"
        create_cube(location, SPEC)
        fill(location)
        before = plain(location)
        ballast = disk / "ballast"
        with suppress(OSError), ballast.open("wb", buffering=0) as file:
            while file.write(bytes(1024)):
                pass
        with pytest.raises(CubeError, match=r"extend the cube .*No space left"):
            extend_cube(location, small_spec(count=2))
        xr.testing.assert_identical(plain(location), before)
        ballast.unlink()
        extend_cube(location, small_spec(count=2))
        assert set(read_ledger(location).done) == set(SPEC.tiles)


WRITES: dict[str, Callable[[Path], object]] = {
    "write_tile": lambda cube: write_tile(cube, TILE, [made_up(SPEC, whole_tile(SPEC, TILE))]),
    "mark_failed": lambda cube: mark_failed(cube, SPEC.tiles[-1], "died"),
    "extend": lambda cube: extend_cube(cube, small_spec(count=2)),
    "record_session": lambda cube: record_session(cube, ["host"]),
    "create": lambda cube: create_cube(cube.with_name("other.zarr"), SPEC),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_read_only_cube_can_be_read_but_not_written(
    tmp_path: Path, write: Callable[[Path], object]
) -> None:
    with small_disk(tmp_path / "disk", "4m") as disk:
        location = disk / "cube.zarr"
        create_cube(location, SPEC)
        fill(location, SPEC.tiles[:-1])
        make_read_only(disk)
        before = plain(location)
        with pytest.raises(CubeError, match=r"Read-only file system.*your permissions"):
            write(location)
        xr.testing.assert_identical(plain(location), before)
        assert len(read_ledger(location).done) == len(SPEC.tiles) - 1
        assert not verify_cube(location).damaged
        assert np.isfinite(open_cube(location).kmeans_ari.mean().compute())
