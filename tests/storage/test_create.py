"""A cube is created once and atomically, and nothing else is taken for a cube."""

import json
from functools import partial
from pathlib import Path

import pytest
import xarray as xr
import zarr

from storage import (
    CubeError,
    CubeMismatchError,
    CubeNotFoundError,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    read_provenance,
    read_spec,
    verify_cube,
)
from storage.tiles import mark_failed
from tests.storage.made_up import fill, plain, small_spec
from tests.storage.processes import CONTEXT, interrupted_after

SPEC = small_spec()


def test_plain_xarray_opens_a_new_cube_which_is_empty(tmp_path: Path) -> None:
    create_cube(tmp_path / "new" / "folders" / "cube.zarr", SPEC)
    dataset = plain(tmp_path / "new" / "folders" / "cube.zarr")
    assert dataset.sizes == {
        "config": 2,
        "dataset": 2,
        "normalisation": 2,
        "p1": 3,
        "p2": 2,
        "restart": 3,
    }
    assert not dataset.status.any()
    assert dataset.rescaled_imwk_ari.isnull().all()


def test_plain_xarray_opens_it_lazily_and_without_warnings(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    for consolidated in (None, True, False):
        dataset = xr.open_zarr(tmp_path / "cube.zarr", consolidated=consolidated)
        assert dataset.sel(p1=1.4, config="1000x6-3").rescaled_imwk_ari.shape == (2, 2, 2)


def test_creating_a_cube_again_does_not_change_it(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    fill(tmp_path / "cube.zarr")
    before = plain(tmp_path / "cube.zarr")
    create_cube(tmp_path / "cube.zarr", SPEC)
    xr.testing.assert_identical(plain(tmp_path / "cube.zarr"), before)


def test_a_cube_of_another_sweep_is_refused_with_the_differences(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    other = small_spec(seed=7, p1=[1.1], configs=["1000x6-3"])
    with pytest.raises(CubeMismatchError) as caught:
        create_cube(tmp_path / "cube.zarr", other)
    assert isinstance(caught.value, ValueError)
    message = str(caught.value)
    assert "seed: 2020 (cube), 7 (spec)" in message
    assert "p1: 1.1, 1.4, 2.0 (cube), 1.1 (spec)" in message
    assert "datasets.synthetic.configs: 1000x6-3, 1000x12-6 (cube), 1000x6-3 (spec)" in message
    assert "normalisations" not in message


def test_an_empty_folder_becomes_a_cube(tmp_path: Path) -> None:
    create_cube(tmp_path, SPEC)
    assert len(read_ledger(tmp_path).todo) == 8


def test_existing_files_are_refused_and_not_changed(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    zarr.create_group(tmp_path / "group.zarr", attributes={"mine": True})
    for name, message in {
        "file": "is not a cube",
        "folder": "is not a cube",
        "group.zarr": "not a cube of imwk-sweep",
    }.items():
        with pytest.raises(CubeError, match=message):
            create_cube(tmp_path / name, SPEC)
    assert (tmp_path / "file").read_text() == (tmp_path / "folder" / "notes.txt").read_text()


@pytest.mark.parametrize(
    "work",
    [open_cube, read_ledger, read_spec, verify_cube, read_provenance],
    ids=lambda work: work.__name__,
)
def test_a_missing_cube_is_an_error_that_says_how_to_create_it(
    tmp_path: Path, work: object
) -> None:
    assert callable(work)
    message = r"no cube at .*storage\.create_cube, .* imwk submit SPEC CUBE"
    with pytest.raises(CubeNotFoundError, match=message) as caught:
        work(tmp_path / "cube.zarr")
    assert isinstance(caught.value, FileNotFoundError)


def test_urls_of_local_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CubeError, match=r"is the URL of a local file\. Give its path"):
        create_cube(f"file://{tmp_path}/cube.zarr", SPEC)


def test_a_newer_cube_is_refused_by_readers_and_writers(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    root = json.loads((location / "zarr.json").read_text())
    root["attributes"]["schema_version"] = 2
    (location / "zarr.json").write_text(json.dumps(root))
    for work in (
        lambda: open_cube(location),
        lambda: read_ledger(location),
        lambda: verify_cube(location, repair=True),
        lambda: mark_failed(location, SPEC.tiles[0], "died"),
        lambda: extend_cube(location, small_spec(count=3)),
        lambda: create_cube(location, SPEC),
    ):
        with pytest.raises(CubeError, match=r"version 2 .* reads version 1\. Install"):
            work()


def test_processes_that_create_the_same_cube_all_find_it(tmp_path: Path) -> None:
    for round_ in range(4):
        location = tmp_path / f"{round_}.zarr"
        creators = [CONTEXT.Process(target=create_cube, args=(location, SPEC)) for _ in range(6)]
        for creator in creators:
            creator.start()
        for creator in creators:
            creator.join(60)
        assert [creator.exitcode for creator in creators] == [0] * 6
        assert len(read_ledger(location).todo) == 8
        assert [path.name for path in tmp_path.iterdir()].count(location.name) == 1
    assert len(list(tmp_path.iterdir())) == 4  # the others left nothing behind


def test_processes_that_create_different_cubes_do_not_mix_them(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    specs = [small_spec(seed=seed) for seed in range(4)]
    creators = [CONTEXT.Process(target=create_quietly, args=(location, spec)) for spec in specs]
    for creator in creators:
        creator.start()
    for creator in creators:
        creator.join(60)
    assert sorted(creator.exitcode or 0 for creator in creators) == [0, 3, 3, 3]
    plain(location)


def create_quietly(location: Path, spec: object) -> None:
    try:
        create_cube(location, spec)  # type: ignore[arg-type]
    except CubeMismatchError:
        raise SystemExit(3) from None


def test_a_creation_that_is_killed_at_any_step_leaves_no_cube_or_a_complete_one(
    tmp_path: Path,
) -> None:
    outcomes = set()
    for step in range(200):
        location = tmp_path / f"{step}.zarr"
        finished = interrupted_after(step, partial(create_cube, location, SPEC))
        outcomes.add(location.exists())
        if location.exists():
            plain(location)
        create_cube(location, SPEC)
        assert len(read_ledger(location).todo) == 8
        if finished:
            break
    assert finished
    assert outcomes == {False, True}
