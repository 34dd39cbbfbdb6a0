"""An extension does not change stored results, and gives the cube that is created at once."""

import json
import shutil
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.spec import KEEP, SweepSpec
from pipeline.spec.blocks import Block, whole_tile
from storage import (
    CubeMismatchError,
    CubeNotFoundError,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    verify_cube,
)
from storage.handle import open_handle
from storage.tiles import write_tile
from tests.storage.made_up import (
    CONFIGS,
    assert_same_kept,
    comparable,
    fill,
    kept,
    made_up,
    plain,
    small_spec,
    spec_of,
)
from tests.storage.processes import CONTEXT, interrupted_after

SPEC = small_spec(keep=KEEP)
LARGER = small_spec(
    keep=KEEP,
    count=3,
    configs=CONFIGS,
    p1=[1.1, 1.3, 1.4, 2.0],
    p2=[1.2, 1.5, 3.0],
    normalisations=["range", "z-score", "min-max"],
)

NORMALISATIONS = ["z-score", "range"]
EXPONENTS = [1.1, 1.2, 1.4, 2.0, 3.0]


@st.composite
def growing_specs(draw: st.DrawFn) -> list[SweepSpec]:
    """Draw a sweep and one or two larger ones, each of which contains the one before."""
    chosen: dict[str, set[Any]] = {
        "configs": set(),
        "normalisations": set(),
        "p1": set(),
        "p2": set(),
    }
    known = {
        "configs": CONFIGS[:2],
        "normalisations": NORMALISATIONS,
        "p1": EXPONENTS,
        "p2": EXPONENTS,
    }
    parts = draw(st.sampled_from([None, ["imwk"], ["kmeans", "rescaled_imwk"]]))
    keep = draw(st.sampled_from([(), ("labels",), KEEP]))
    specs, count = [], 0
    for _ in range(draw(st.integers(2, 3))):
        count = draw(st.integers(max(1, count), 2))
        for key, names in known.items():
            least = 0 if chosen[key] else 1
            chosen[key] |= draw(st.sets(st.sampled_from(names), min_size=least, max_size=2))
        changes = {key: sorted(values) for key, values in chosen.items()}
        some = {"parts": parts} if parts else {}
        specs.append(small_spec(count=count, keep=keep, **changes, **some))
    return specs


@settings(max_examples=6)
@given(specs=growing_specs(), seed=st.integers(0, 1000))
def test_a_cube_extended_in_steps_equals_one_created_at_once(
    specs: list[SweepSpec], seed: int
) -> None:
    with TemporaryDirectory() as folder:
        grown, at_once = Path(folder) / "grown.zarr", Path(folder) / "at_once.zarr"
        create_cube(grown, specs[0])
        for spec in specs:
            extend_cube(grown, spec)
            some = [tile for tile in spec.tiles if Random(f"{seed} {tile}").random() < 0.7]
            fill(grown, some)  # the others are computed for a later, larger grid
        fill(grown)
        create_cube(at_once, specs[-1])
        fill(at_once)
        xr.testing.assert_identical(comparable(open_cube(grown)), comparable(open_cube(at_once)))
        assert_same_kept(grown, at_once)
        assert not verify_cube(grown).damaged
        assert not read_ledger(grown).todo
        xr.testing.assert_identical(
            comparable(plain(grown)).sortby(["config", "normalisation", "p1", "p2"]),
            comparable(plain(at_once)).sortby(["config", "normalisation", "p1", "p2"]),
        )


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube with all its results; copy it before changing it."""
    location = tmp_path_factory.mktemp("filled") / "cube.zarr"
    create_cube(location, SPEC)
    fill(location)
    return location


@pytest.fixture
def cube(filled: Path, tmp_path: Path) -> Path:
    """Return a cube with all its results."""
    return Path(shutil.copytree(filled, tmp_path / "cube.zarr"))


def test_stored_results_are_read_unchanged_right_after_the_extension(cube: Path) -> None:
    before, kept_before = comparable(open_cube(cube)), kept(cube)
    extend_cube(cube, LARGER)
    after = comparable(open_cube(cube)).sel({dim: before[dim] for dim in before.dims})
    xr.testing.assert_identical(after, before)
    kept_after = kept(cube)
    for name, values in kept_before.items():
        labelled = {dim: values[dim] for dim in values.dims}
        xr.testing.assert_identical(kept_after[name].sel(labelled), values)
    assert read_ledger(cube).counts.done == 0  # all tiles lack some cells now


def test_only_cells_outside_the_older_grid_are_missing(cube: Path) -> None:
    extend_cube(cube, LARGER)
    work = {item.tile: item.blocks for item in read_ledger(cube).todo}
    assert list(work) == list(LARGER.tiles)
    for tile, blocks in work.items():
        cells = [
            (part, p1, p2)
            for block in blocks
            for part in block.parts
            for p1 in block.p1
            for p2 in block.p2
            if part == "rescaled_imwk"
        ]
        wanted = {("rescaled_imwk", p1, p2) for p1 in LARGER.p1 for p2 in LARGER.p2}
        stored = {("rescaled_imwk", p1, p2) for p1 in SPEC.p1 for p2 in SPEC.p2}
        assert len(cells) == len(set(cells))
        assert set(cells) == (wanted - stored if tile in SPEC.tiles else wanted)
        assert any("kmeans" in block.parts for block in blocks) == (tile not in SPEC.tiles)


def test_more_data_sets_leave_done_tiles_done(cube: Path) -> None:
    extend_cube(cube, small_spec(count=4, keep=KEEP))
    ledger = read_ledger(cube)
    assert set(ledger.done) == set(SPEC.tiles)
    assert {tile.dataset for tile in ledger.missing} == {2, 3}


def test_files_of_done_tiles_are_not_touched(cube: Path) -> None:
    def chunks() -> dict[Path, int]:
        files = (*cube.glob("*_ari/c.*"), *cube.glob("kept/*/*/c.*"))
        return {file: file.stat().st_ino for file in files}

    before = chunks()
    extend_cube(cube, LARGER)
    assert chunks() == before


def test_extending_to_the_same_sweep_changes_nothing(cube: Path) -> None:
    before = plain(cube)
    extend_cube(cube, SPEC)
    xr.testing.assert_identical(plain(cube), before)


SMALLER: dict[str, tuple[dict[str, Any], str]] = {
    "fewer data sets": ({"count": 1}, r"datasets\.synthetic\.count: 2 \(cube\), 1 \(spec\)"),
    "fewer configurations": ({"configs": CONFIGS[1:]}, r"configs: 1000x6-3, 1000x12-6 \(cube\)"),
    "fewer normalisations": ({"normalisations": ["range"]}, r"normalisations: z-score, range \("),
    "fewer p1": ({"p1": [1.1, 2.0, 4.0]}, r"p1: 1\.1, 1\.4, 2\.0 \(cube\), 1\.1, 2\.0, 4\.0"),
    "fewer p2": ({"p2": [1.5]}, r"p2: 1\.5, 3\.0 \(cube\), 1\.5 \(spec\)"),
    "seed": ({"seed": 1, "count": 3}, r"seed: 2020 \(cube\), 1 \(spec\)"),
    "centre": ({"centre": "fixed-step"}, r"centre: exact \(cube\), fixed-step \(spec\)"),
    "dtype": ({"dtype": "float32"}, r"dtype: float64 \(cube\), float32 \(spec\)"),
    "restarts": ({"restarts": 5}, r"restarts: 3 \(cube\), 5 \(spec\)"),
    "parts": ({"parts": ["imwk"]}, r"parts: kmeans, .* \(cube\), imwk \(spec\)"),
    "keep": ({"keep": ["labels"]}, r"keep: labels, weights \(cube\), labels \(spec\)"),
}


@pytest.mark.parametrize(("changes", "message"), SMALLER.values(), ids=SMALLER)
def test_specs_that_are_not_larger_are_refused_with_the_differences(
    cube: Path, changes: dict[str, Any], message: str
) -> None:
    before = plain(cube)
    with pytest.raises(CubeMismatchError, match=message):
        extend_cube(cube, small_spec(**{"keep": KEEP, **changes}))
    xr.testing.assert_identical(plain(cube), before)


@pytest.mark.slow
def test_an_extension_that_is_killed_at_any_step_leaves_the_old_cube_or_the_new(
    tmp_path: Path,
) -> None:
    location = tmp_path / "cube.zarr"
    keep: dict[str, Any] = {"keep": ["labels"], "parts": ["kmeans", "imwk"]}
    small = small_spec(count=1, configs=CONFIGS[:1], normalisations=["range"], p1=[2.0], **keep)
    larger = small_spec(count=1, configs=CONFIGS[:2], **keep)
    create_cube(location, small)
    fill(location)
    before = comparable(plain(location))
    outcomes: list[SweepSpec] = []
    finished = False
    while not finished:
        # Every attempt gets further, and starts with the files that the earlier ones left.
        steps = 3 * len(outcomes)
        finished = interrupted_after(steps, partial(extend_cube, location, larger))
        after = comparable(plain(location))
        xr.testing.assert_identical(after.sel({dim: before[dim] for dim in before.dims}), before)
        outcomes.append(spec_of(location))
    first_new = outcomes.index(larger)
    assert outcomes == [small] * first_new + [larger] * (len(outcomes) - first_new)
    assert first_new > 20
    assert not list(location.rglob(".exchange"))
    assert not any(path.is_symlink() for path in location.rglob("*"))
    fill(location)
    assert not verify_cube(location).damaged
    create_cube(tmp_path / "at_once.zarr", larger)
    fill(tmp_path / "at_once.zarr")
    assert_same_kept(location, tmp_path / "at_once.zarr")


def test_a_killed_extension_does_not_disturb_a_different_one_after_it(tmp_path: Path) -> None:
    few: dict[str, Any] = {"count": 1, "normalisations": ["range"], "keep": KEEP}
    small, killed = (small_spec(configs=CONFIGS[:size], **few) for size in (1, 2))
    # Another configuration is the second one, whose arrays of labels and weights differ.
    other = small_spec(configs=(CONFIGS[0], CONFIGS[2]), p1=[1.1, 1.4, 1.7, 2.0], **few)
    at_once = tmp_path / "at_once.zarr"
    create_cube(at_once, other)
    fill(at_once)
    for steps in (3, 20, 30, 55, 70):
        location = tmp_path / f"{steps}.zarr"
        create_cube(location, small)
        assert not interrupted_after(steps, partial(extend_cube, location, killed))
        extend_cube(location, other)
        fill(location)
        xr.testing.assert_identical(comparable(open_cube(location)), comparable(open_cube(at_once)))
        assert_same_kept(location, at_once)
        assert kept_documents(location) == kept_documents(at_once)  # none of the killed extension


def kept_documents(location: Path) -> dict[str, Any]:
    documents = location.glob("kept/**/zarr.json")
    return {
        path.relative_to(location).as_posix(): json.loads(path.read_text()) for path in documents
    }


def test_a_process_killed_during_an_extension_leaves_a_cube(tmp_path: Path) -> None:
    for attempt in range(5):
        location = tmp_path / f"{attempt}.zarr"
        create_cube(location, SPEC)
        started = CONTEXT.Event()
        process = CONTEXT.Process(target=extend_when_ready, args=(location, started))
        process.start()
        assert started.wait(60)
        process.join(0.003 * (attempt + 1) ** 2)
        process.kill()
        process.join()
        plain(location)
        extend_cube(location, LARGER)
        assert len(read_ledger(location).todo) == len(LARGER.tiles)


def extend_when_ready(location: Path, started: Any) -> None:
    started.set()
    extend_cube(location, LARGER)


def extend_often(location: Path) -> None:
    for last in range(3, 13):
        extend_cube(location, growing(last))


def growing(last: int) -> SweepSpec:
    p1 = [1 + step / 10 for step in range(1, last)]
    return small_spec(p1=p1, count=last, configs=CONFIGS[:1], keep=KEEP)


def test_a_cube_can_be_read_at_any_moment_of_many_extensions(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, growing(2))
    process = CONTEXT.Process(target=extend_often, args=(location,))
    process.start()
    seen = set()
    while process.is_alive():
        dataset = xr.open_zarr(location)
        assert dataset.p1.notnull().all()
        seen.add(dataset.sizes["p1"])
        assert open_cube(location).sizes["p1"] >= max(seen)
        read_ledger(location)
    assert process.exitcode == 0
    assert len(seen) > 3


def test_a_worker_writes_through_one_handle_during_many_extensions(tmp_path: Path) -> None:
    location, at_once = tmp_path / "cube.zarr", tmp_path / "at_once.zarr"
    create_cube(location, growing(2))
    handle = open_handle(location)
    process = CONTEXT.Process(target=extend_often, args=(location,))
    process.start()
    seen = set()
    while process.is_alive():
        spec = handle.current().spec
        for tile in spec.tiles[:2]:
            write_tile(handle, tile, [made_up(spec, whole_tile(spec, tile))])
        seen.add(spec.fingerprint)
    assert process.exitcode == 0
    assert len(seen) > 3
    assert not verify_cube(location).damaged
    fill(location)
    create_cube(at_once, growing(12))
    fill(at_once)
    xr.testing.assert_identical(comparable(open_cube(location)), comparable(open_cube(at_once)))
    assert_same_kept(location, at_once)


def test_concurrent_extensions_end_in_the_larger_one(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, SPEC)
    middle = small_spec(count=3, keep=KEEP)
    processes = [
        CONTEXT.Process(target=extend_quietly, args=(location, spec))
        for spec in (middle, LARGER, middle, LARGER)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0
    assert spec_of(location) == LARGER
    assert len(read_ledger(location).todo) == len(LARGER.tiles)
    plain(location)


def extend_quietly(location: Path, spec: SweepSpec) -> None:
    try:
        extend_cube(location, spec)
    except CubeMismatchError:
        assert spec != LARGER  # the larger was first


def test_results_of_the_older_grid_do_not_overwrite_newer_ones(cube: Path) -> None:
    extend_cube(cube, LARGER)
    fill(cube)
    before, kept_before = comparable(open_cube(cube)), kept(cube)
    tile = SPEC.tiles[0]
    write_tile(cube, tile, [made_up(SPEC, Block(tile, SPEC.parts, SPEC.p1, SPEC.p2))])
    xr.testing.assert_identical(comparable(open_cube(cube)), before)
    for name, values in kept(cube).items():
        xr.testing.assert_identical(values, kept_before[name])


def test_a_missing_cube_cannot_be_extended(tmp_path: Path) -> None:
    with pytest.raises(CubeNotFoundError, match="no cube"):
        extend_cube(tmp_path / "cube.zarr", SPEC)
