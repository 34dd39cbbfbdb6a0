"""Commands that plan, start and stop sweeps."""

import json
from pathlib import Path

import dask

from storage import read_ledger
from tests.faults import ROOT, Program
from tests.workflows.cli.small import make_first_fail
from tests.workflows.commands import assert_refused, imwk
from workflows.presets import PRESETS, preset_text


def test_presets_are_listed_and_printed() -> None:
    assert imwk("presets").output.split() == list(PRESETS)
    assert imwk("presets", "quick").output == preset_text("quick")
    assert_refused(imwk("presets", "qick"), "Did you mean 'quick'")


def test_the_quick_preset_is_what_make_run_computes() -> None:
    assert "/imwk submit quick results/quick.zarr\n" in (ROOT / "Makefile").read_text()


def test_a_plan_is_text_or_json(spec_file: Path) -> None:
    words = imwk("plan", spec_file, "--workers", 3)
    assert words.output.startswith("2 tiles in 2 blocks")
    assert words.output.rstrip().endswith("with 3 workers")
    assert json.loads(imwk("plan", spec_file, "--json").output)["tiles"] == 2


def test_several_numbers_of_clusters_are_configurations(tmp_path: Path) -> None:
    file = tmp_path / "my.csv"
    file.write_text("size,length\n" + "\n".join(f"{i % 3}.5,{i}" for i in range(12)))
    plan = ("plan", "--data", file, "--json", "--k")
    assert [json.loads(imwk(*plan, k).output)["tiles"] for k in ("3", "2:4", "2,5")] == [4, 12, 8]
    assert_refused(imwk(*plan, "2-4"), "not a number such as 3, 2:8 or 2,4,6")
    assert_refused(imwk(*plan, "4:2"), "must be different numbers of at least 1")


def test_submit_prints_the_dashboard_and_nothing_else_until_the_end(
    spec_file: Path, tmp_path: Path
) -> None:
    cube = tmp_path / "new.zarr"
    code, output, errors = Program("imwk", "submit", spec_file, cube, "--workers", "1").end()
    assert code == 0
    assert output.startswith("2 of 2 tiles done, 0 of them earlier; 0 failed; ")
    assert errors.startswith("2 of 2 tiles to do, 1 worker; dashboard: http://127.0.0.1:")
    assert len(errors.splitlines()) == 1


def test_json_events_are_one_per_line(spec_file: Path, tmp_path: Path) -> None:
    result = imwk("submit", spec_file, tmp_path / "new.zarr", "--workers", 1, "--json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["started", "tile", "tile", "finished"]
    assert {event["dataset"] for event in events[1:3]} == {0, 1}
    assert events[3]["done"] == 2


def test_submit_again_has_nothing_to_do(spec_file: Path, cube: Path) -> None:
    result = imwk("submit", spec_file, cube)
    assert result.exit_code == 0
    assert result.stdout.startswith("2 of 2 tiles done, 2 of them earlier")
    assert result.stderr == ""


def test_refusals_are_messages(spec_file: Path, cube: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.toml"
    bad.write_text("restarts = -1")
    assert_refused(imwk("plan", bad), f"{bad}: restarts = -1: ", f"{bad}: datasets: is missing")
    assert_refused(imwk("submit", "no-such-preset", cube), "is neither a file nor a preset")
    assert_refused(imwk("submit", "quick", cube), "p1: 1.5, 2.0 (cube), 1.2, 1.5, 2.0, 3.0 (spec)")
    assert_refused(imwk("extend", cube, "quick"), "cannot be extended")
    assert_refused(imwk("submit", spec_file, tmp_path), "is not a cube")
    for command in ("status", "verify", "retry", "summary"):
        assert_refused(imwk(command, tmp_path / "none.zarr"), "There is no cube at")
    both = imwk("submit", spec_file, cube, "--scheduler", "a:1", "--workers", 1)
    assert_refused(both, "Give only one of --workers, --scheduler and --batch.")


def test_without_a_scheduler_the_exit_code_is_4(spec_file: Path, tmp_path: Path) -> None:
    nowhere = ("--scheduler", "tcp://127.0.0.1:1")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        refused = imwk("submit", spec_file, tmp_path / "a.zarr", *nowhere)
    assert refused.exit_code == 4
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in refused.stderr


def test_failed_tiles_are_not_computed_until_they_are_retried(spec_file: Path, cube: Path) -> None:
    make_first_fail(cube)
    again = imwk("submit", spec_file, cube)
    assert again.exit_code == 1
    assert f"imwk retry {cube}" in again.stderr
    assert imwk("retry", cube, "--workers", 1).exit_code == 0
    assert not read_ledger(cube).failed


def test_a_missing_cube_is_named() -> None:
    assert_refused(imwk("submit", "quick"), "CUBE is missing", "imwk submit quick CUBE")
