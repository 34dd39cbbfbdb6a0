"""Scores that are added to a cube equal those of a sweep, and a fault leaves the old cube."""

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import xarray as xr

import storage
from pipeline import SweepSpec, register_score
from pipeline.datasets import Table
from pipeline.score_facts import SCORES
from pipeline.spec.sweep import Sweep
from storage import CubeError, create_cube, extend_cube, open_cube, read_spec, verify_cube
from storage.extend import add_scores
from storage.tiles import mark_missing
from tests.own_tables import small_table
from tests.storage.made_up import small_spec
from tests.storage.processes import interrupted_after
from workflows import submit
from workflows.choice import rescoring
from workflows.choice.rescoring import score_cube
from workflows.errors import ArgumentError

KEYS: dict[str, Any] = {
    "normalisations": ["range", "z-score"],
    "restarts": 2,
    "p1": [1.5, 3],
    "p2": [2, 4],
}


def sweep(table: Table, **changes: Any) -> Sweep:
    return Sweep.of({"mine": table}, k=3, **{**KEYS, **changes})


def results(location: Path) -> xr.Dataset:
    """Return everything but times, which differ between sweeps."""
    return open_cube(location).drop_vars(["tile_seconds", "grid"]).load()


def test_added_scores_have_the_bits_of_a_sweep(tmp_path: Path) -> None:
    added, whole = tmp_path / "added.zarr", tmp_path / "whole.zarr"
    submit(sweep(small_table(), scores=["silhouette"]), added, workers=0)
    submit(sweep(small_table(), scores=list(SCORES)), whole, workers=0)
    assert score_cube(added, ["nmi", "info"]) == ["info", "nmi"]
    assert score_cube(added, [*SCORES]) == ["calinski-harabasz", "davies-bouldin", "ami"]
    assert score_cube(added, ["info"]) == []
    xr.testing.assert_identical(results(added).drop_attrs(), results(whole).drop_attrs())
    assert read_spec(added) == read_spec(whole)
    found = verify_cube(added)
    assert (found.checked, found.damaged) == (2, {})


def test_scores_of_plug_ins_stay_in_the_cube(tmp_path: Path) -> None:
    register_score("rows-of-first", lambda _, labels: int((labels == 0).sum()), version="1")
    cube = tmp_path / "cube.zarr"
    submit(sweep(small_table(), scores=["silhouette", "rows-of-first"]), cube, workers=0)
    before = open_cube(cube).imwk_rows_of_first.load()
    assert score_cube(cube, iter(["info", "ami"])) == ["info", "ami"]  # asked for once only
    assert read_spec(cube).scores == ("silhouette", "info", "ami", "rows-of-first")
    assert open_cube(cube).imwk_rows_of_first.identical(before)
    assert score_cube(cube, ["rows-of-first"]) == []
    assert read_spec(cube) == SweepSpec.model_validate(read_spec(cube).model_dump())
    assert verify_cube(cube).damaged == {}


def test_scores_of_plug_ins_are_added_and_stay(tmp_path: Path) -> None:
    register_score("most", lambda _, labels: max(labels), version="1", higher_is_better=False)
    register_score("least", lambda _, labels, __: min(labels), version="1", needs_classes=True)
    whole, added = tmp_path / "whole.zarr", tmp_path / "added.zarr"
    every = ["info", "nmi", "least", "most"]
    submit(sweep(small_table(), scores=every, clusterers=["ward"]), whole, workers=0)
    submit(sweep(small_table(), scores=["most"], clusterers=["ward"]), added, workers=0)
    assert score_cube(added, ["nmi"]) == ["nmi"]
    assert score_cube(added, ["most", "least", "info"]) == ["info", "least"]
    assert read_spec(added) == read_spec(whole)
    xr.testing.assert_equal(results(added), results(whole))


def test_an_extension_computes_the_added_scores(tmp_path: Path) -> None:
    added, whole = tmp_path / "added.zarr", tmp_path / "whole.zarr"
    table = small_table(labelled=False)
    submit(sweep(table, scores=["silhouette"]), added, workers=0)
    larger = sweep(table, scores=["silhouette"], p1=[1.2, 1.5, 3], p2=[2, 3, 4])
    extend_cube(added, larger.spec, larger.tables)
    score_cube(added, ["info"])  # of tiles that lack the new exponents
    submit(read_spec(added), added, workers=0)
    wanted = sweep(table, scores=["silhouette", "info"], p1=[1.2, 1.5, 3], p2=[2, 3, 4])
    submit(wanted, whole, workers=0)
    xr.testing.assert_identical(results(added).drop_attrs(), results(whole).drop_attrs())
    assert verify_cube(added).damaged == {}


def test_tiles_that_are_not_done_are_computed_with_the_added_scores(tmp_path: Path) -> None:
    added = tmp_path / "added.zarr"
    submit(sweep(small_table(), scores=[]), added, workers=0)
    before = results(added)
    mark_missing(added, read_spec(added).tiles[:1])
    score_cube(added, ["info"])
    submit(read_spec(added), added, workers=0)
    after = results(added)
    assert bool(after.rescaled_imwk_info.notnull().all())
    assert after.rescaled_imwk_ari.identical(before.rescaled_imwk_ari)


def test_a_fault_leaves_the_old_cube_and_the_command_can_be_repeated(tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    submit(sweep(small_table(), scores=[]), cube, workers=0)
    before, spec = results(cube), read_spec(cube)

    def fail_at_the_second(handle: Any, tile: Any, grid: Any, scores: list[str]) -> Any:
        if tile == spec.tiles[1]:
            raise KeyboardInterrupt
        return rescoring._rescored(handle, tile, grid, scores)

    with pytest.raises(KeyboardInterrupt):
        add_scores(cube, ["info"], fail_at_the_second)
    assert read_spec(cube) == spec
    xr.testing.assert_identical(results(cube), before)
    assert verify_cube(cube).damaged == {}
    assert score_cube(cube, ["info"]) == ["info"]
    assert bool(open_cube(cube).imwk_info.notnull().all())


@pytest.mark.slow
@pytest.mark.parametrize("first", [0, 7, 13, 22])
def test_a_kill_at_any_step_leaves_the_cube_without_or_with_all_scores(
    tmp_path: Path, first: int
) -> None:
    whole = tmp_path / "whole.zarr"
    keys: dict[str, Any] = {"normalisations": ["range"], "restarts": 0, "scores": []}
    submit(sweep(small_table(), **keys), whole, workers=0)
    before = results(whole)
    wanted: dict[str, Any] = {}

    def known(handle: Any, tile: Any, grid: Any, scores: list[str]) -> Any:
        if not wanted:  # computed once, for all kills
            wanted.update(rescoring._rescored(handle, tile, grid, scores))
        return wanted

    finished, steps, seen = False, first, set()
    while not finished:
        cube = tmp_path / f"{steps}.zarr"
        shutil.copytree(whole, cube)
        finished = interrupted_after(steps, partial(add_scores, cube, ["info"], known))
        steps += 31
        found = results(cube)
        seen.add("imwk_info" in found)
        assert found[list(before)].drop_attrs().identical(before.drop_attrs())
        assert "imwk_info" not in found or bool(found.imwk_info.notnull().all())
        add_scores(cube, ["info"], known)
        assert verify_cube(cube).damaged == {}
        assert open_cube(cube).rescaled_imwk_info.values.ravel() == pytest.approx(
            wanted["rescaled_imwk_info"].ravel(), abs=0
        )
    assert seen == {False, True}
    assert steps > 93


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    bare, unlabelled = tmp_path / "bare.zarr", tmp_path / "unlabelled.zarr"
    create_cube(bare, small_spec())
    own = sweep(small_table(labelled=False))
    create_cube(unlabelled, own.spec, own.tables)
    with pytest.raises(CubeError, match="keeps no labels"):
        score_cube(bare, ["info"])
    with pytest.raises(ArgumentError, match="ami needs classes"):
        score_cube(unlabelled, ["ami"])
    with pytest.raises(ArgumentError, match="imwk choose and"):
        score_cube(unlabelled, ["central"])
    with pytest.raises(ArgumentError, match="Unknown score 'infos'"):
        score_cube(unlabelled, ["infos"])
    assert "imwk_info" in storage.open_cube(unlabelled)
