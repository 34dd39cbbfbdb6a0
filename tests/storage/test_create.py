"""A cube is made once, whole or not at all, and nothing else is taken for one."""

import json
from functools import partial
from pathlib import Path

import pytest
import xarray as xr
import zarr

from storage import (
    CubeError,
    CubeMismatchError,
    create_cube,
    extend_cube,
    mark_failed,
    open_cube,
    read_ledger,
    read_provenance,
    todo,
    verify_cube,
)
from tests.storage.made_up import fill, plain, small_spec
from tests.storage.processes import CONTEXT, interrupted_after

SPEC = small_spec()


def test_a_new_cube_opens_plainly_and_holds_nothing(tmp_path: Path) -> None:
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


def test_plain_xarray_opens_lazily_without_warnings(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    for consolidated in (None, True, False):
        dataset = xr.open_zarr(tmp_path / "cube.zarr", consolidated=consolidated)
        assert dataset.sel(p1=1.4, config="1000x6-3").rescaled_imwk_ari.shape == (2, 2, 2)


def test_making_a_cube_again_leaves_it_as_it_is(tmp_path: Path) -> None:
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
    message = str(caught.value)
    assert "seed: 2020 (cube), 7 (spec)" in message
    assert "p1: 1.1, 1.4, 2.0 (cube), 1.1 (spec)" in message
    assert "datasets.synthetic.configs: 1000x6-3, 1000x12-6 (cube), 1000x6-3 (spec)" in message
    assert "normalisations" not in message


def test_an_empty_folder_becomes_a_cube(tmp_path: Path) -> None:
    create_cube(tmp_path, SPEC)
    assert len(todo(tmp_path)) == 8


def test_other_things_in_the_way_are_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    zarr.create_group(tmp_path / "group.zarr", attributes={"mine": True})
    for name, message in {
        "file": "no cube",
        "folder": "no cube",
        "group.zarr": "no cube of imwk-sweep",
    }.items():
        with pytest.raises(CubeError, match=message):
            create_cube(tmp_path / name, SPEC)
    assert (tmp_path / "file").read_text() == (tmp_path / "folder" / "notes.txt").read_text()


@pytest.mark.parametrize(
    "work",
    [open_cube, read_ledger, todo, verify_cube, read_provenance],
    ids=lambda work: work.__name__,
)
def test_where_no_cube_is_one_is_told_how_to_make_it(tmp_path: Path, work: object) -> None:
    assert callable(work)
    with pytest.raises(CubeError, match=r"no cube at .*imwk submit SPEC CUBE"):
        work(tmp_path / "cube.zarr")


def test_urls_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CubeError, match=r"is a URL.*Give its path"):
        create_cube(f"file://{tmp_path}/cube.zarr", SPEC)


def test_a_newer_cube_is_refused_by_all_that_reads_or_writes(tmp_path: Path) -> None:
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


def test_of_many_creators_at_once_all_find_one_cube(tmp_path: Path) -> None:
    for round_ in range(4):
        location = tmp_path / f"{round_}.zarr"
        creators = [CONTEXT.Process(target=create_cube, args=(location, SPEC)) for _ in range(6)]
        for creator in creators:
            creator.start()
        for creator in creators:
            creator.join(60)
        assert [creator.exitcode for creator in creators] == [0] * 6
        assert len(todo(location)) == 8
        assert [path.name for path in tmp_path.iterdir()].count(location.name) == 1
    assert len(list(tmp_path.iterdir())) == 4  # nothing is left of those that came second


def test_creators_of_different_sweeps_do_not_mix(tmp_path: Path) -> None:
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


def test_killed_at_any_step_a_creation_leaves_no_cube_or_a_whole_one(tmp_path: Path) -> None:
    outcomes = set()
    for step in range(200):
        location = tmp_path / f"{step}.zarr"
        finished = interrupted_after(step, partial(create_cube, location, SPEC))
        outcomes.add(location.exists())
        if location.exists():
            plain(location)
        create_cube(location, SPEC)
        assert len(todo(location)) == 8
        if finished:
            break
    assert finished
    assert outcomes == {False, True}
