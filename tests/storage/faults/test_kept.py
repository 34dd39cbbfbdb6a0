"""Damaged and lost labels and weights are found and repaired, and never read as others."""

import shutil
from pathlib import Path

import pytest
import xarray as xr

from pipeline.spec import KEEP
from storage import DamagedCubeError, create_cube, labels, read_ledger, verify_cube
from storage.layout.kept import KEPT_RESULTS
from tests.storage.made_up import fill, kept, small_spec

SPEC = small_spec(count=1, configs=["1000x6-3"], keep=KEEP)


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


def chunk_of(cube: Path, name: str) -> Path:
    return next((cube / "kept" / "0" / name).glob("c.*"))


@pytest.mark.parametrize("name", KEPT_RESULTS)
def test_damage_is_found_and_repaired(cube: Path, undamaged: Path, name: str) -> None:
    chunk = chunk_of(cube, name)
    content = chunk.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 4
    for damaged in (content[:-3], flipped):
        chunk.write_bytes(damaged)
        ((reason,),) = verify_cube(cube).damaged.values()
        assert reason.startswith(f"{name} cannot be read: ")
    chunk.unlink()
    found = verify_cube(cube, repair=True).damaged
    ((reason,),) = found.values()
    assert reason.startswith(f"{name} lacks ")
    assert {work.tile for work in read_ledger(cube).todo} == set(found)
    fill(cube)
    wanted = kept(undamaged)
    for key, values in kept(cube).items():
        xr.testing.assert_identical(values, wanted[key])


def test_damage_in_a_tile_that_is_not_done_is_found(cube: Path) -> None:
    chunk = chunk_of(cube, "imwk_labels")
    chunk.write_bytes(chunk.read_bytes()[:-3])
    (cube / "status" / f"c.0.{'.'.join(chunk.name.split('.')[1:3])}").unlink()
    assert len(verify_cube(cube).damaged) == 1


def test_reading_damaged_labels_is_an_error_with_a_remedy(cube: Path) -> None:
    chunk = chunk_of(cube, "imwk_labels")
    chunk.write_bytes(chunk.read_bytes()[:-3])
    with pytest.raises(DamagedCubeError, match=r"read imwk_labels of 1000x6-3.*--repair"):
        labels(cube, part="imwk").load()


def test_a_changed_document_is_an_error(cube: Path) -> None:
    document = cube / "kept" / "0" / "imwk_labels" / "zarr.json"
    document.write_text(document.read_text().replace("255", "254"))
    with pytest.raises(DamagedCubeError, match=r"kept/0/imwk_labels/zarr\.json in .* differs"):
        verify_cube(cube)
