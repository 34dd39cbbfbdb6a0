import json
import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from click.testing import CliRunner, Result

from pipeline.execution.block import run_tile
from pipeline.spec import SweepSpec
from storage import read_ledger
from storage.layout.skeleton import DOCUMENT
from storage.provenance import SESSIONS
from storage.tiles import mark_failed, mark_missing, write_tile
from tests.faults import ROOT, Program
from workflows import submit
from workflows.cli.main import main
from workflows.presets import PRESETS, preset_text

README = (ROOT / "README.md").read_text()


def sweep(**changes: Any) -> SweepSpec:
    values = {"normalisations": ["range"], "parts": ["imwk"], "p1": [1.5, 2], **changes}
    datasets = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    return SweepSpec.model_validate({**values, "datasets": datasets})


SPEC = sweep()
FIRST, SECOND = SPEC.tiles


def imwk(*arguments: object) -> Result:
    return CliRunner().invoke(main, list(map(str, arguments)))


def assert_refused(result: Result, *words: str) -> None:
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: ")
    assert "Traceback" not in result.output
    for word in words:
        assert word in result.stderr


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    return written(SPEC, tmp_path / "spec.toml")


def written(spec: SweepSpec, file: Path) -> Path:
    file.write_text(spec.to_toml())
    return file


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    location = tmp_path / "cube.zarr"
    submit(SPEC, location, workers=0)
    return location


def test_version_is_that_of_the_distribution() -> None:
    result = imwk("--version")
    assert result.exit_code == 0
    assert version("imwk-sweep") in result.output


@pytest.mark.parametrize("name", main.commands)
def test_every_command_has_a_help_text_and_is_in_the_readme(name: str) -> None:
    command = main.commands[name]
    result = imwk(name, "--help")
    assert result.exit_code == 0
    assert command.help
    assert command.help.split(".")[0].split("\n")[0] in result.output
    assert f"imwk {name}" in README


def test_exit_codes_are_in_help_and_readme() -> None:
    text = imwk("--help").output
    for code in ("0", "1", "2", "3", "4", "130"):
        assert re.search(rf"^ +{code} ", text, re.MULTILINE)
        assert f"| {code} |" in README


def test_unknown_command_is_one_clean_error() -> None:
    result = imwk("qick")
    assert result.exit_code == 2
    assert "No such command 'qick'" in result.output


@pytest.mark.parametrize(
    ("arguments", "heavy"),
    [
        (["--help"], ["numpy", "dask", "zarr", "matplotlib"]),
        (["presets"], ["dask", "zarr"]),
        (["status", "CUBE"], ["distributed", "matplotlib"]),
    ],
    ids=["help", "presets", "status"],
)
def test_commands_load_only_what_they_need(
    arguments: list[str], heavy: list[str], cube: Path
) -> None:
    given = [str(cube) if argument == "CUBE" else argument for argument in arguments]
    program = (
        "import sys; from workflows.cli.main import main; "
        f"main({given!r}, standalone_mode=False); "
        f"loaded = set({heavy!r}) & set(sys.modules); assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)


def test_presets_are_listed_and_printed() -> None:
    assert imwk("presets").output.split() == list(PRESETS)
    assert imwk("presets", "quick").output == preset_text("quick")
    assert_refused(imwk("presets", "qick"), "Did you mean 'quick'")


def test_plan_for_people_and_programs(spec_file: Path) -> None:
    words = imwk("plan", spec_file, "--workers", 3)
    assert words.output.startswith("2 tiles in 2 blocks")
    assert words.output.rstrip().endswith("with 3 workers")
    assert json.loads(imwk("plan", spec_file, "--json").output)["tiles"] == 2


def test_submit_prints_where_the_dashboard_is_and_nothing_else_until_the_end(
    spec_file: Path, tmp_path: Path
) -> None:
    cube = tmp_path / "new.zarr"
    code, output, errors = Program("imwk", "submit", spec_file, cube, "--workers", "1").end()
    assert code == 0
    assert output.startswith("2 of 2 tiles done, 0 of them before; 0 failed; ")
    assert errors.startswith("2 of 2 tiles to do, 1 workers; dashboard: http://127.0.0.1:")
    assert len(errors.splitlines()) == 1


def test_json_events_are_one_a_line(spec_file: Path, tmp_path: Path) -> None:
    result = imwk("submit", spec_file, tmp_path / "new.zarr", "--workers", 1, "--json")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert [event["event"] for event in events] == ["started", "tile", "tile", "finished"]
    assert {event["dataset"] for event in events[1:3]} == {0, 1}
    assert events[3]["done"] == 2


def test_submit_again_has_nothing_to_do(spec_file: Path, cube: Path) -> None:
    result = imwk("submit", spec_file, cube)
    assert result.exit_code == 0
    assert result.stdout.startswith("2 of 2 tiles done, 2 of them before")
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
    nowhere = ("--scheduler", "tcp://127.0.0.1:1")
    with dask.config.set({"distributed.comm.timeouts.connect": "1s"}):
        refused = imwk("submit", spec_file, tmp_path / "a.zarr", *nowhere)
    assert refused.exit_code == 4
    assert "There is no Dask scheduler at tcp://127.0.0.1:1" in refused.stderr
    both = imwk("submit", spec_file, cube, "--scheduler", "a:1", "--workers", 1)
    assert both.exit_code == 2
    assert "not both" in both.stderr


def test_status_counts_by_configuration_and_gives_errors(cube: Path) -> None:
    extended = sweep(p1=[1.5, 2, 3])
    larger = written(extended, cube.with_name("larger.toml"))
    assert imwk("extend", cube, larger, "--workers", 1).exit_code == 0
    mark_failed_for_good(cube)
    facts = json.loads(imwk("status", cube, "--json").output)
    assert facts["configs"] == {"1000x6-3": {"tiles": 2, "done": 1, "failed": 1, "missing": 0}}
    assert facts["errors"][0]["error"] == "the reason"
    text = imwk("status", cube).output
    assert "1000x6-3, data set 0, range: the reason" in text


def mark_failed_for_good(cube: Path) -> None:
    """Make a done tile a failed one."""
    mark_missing(cube, [FIRST])
    mark_failed(cube, FIRST, "the reason")


def test_failed_tiles_are_left_alone_until_retried(spec_file: Path, cube: Path) -> None:
    mark_failed_for_good(cube)
    again = imwk("submit", spec_file, cube)
    assert again.exit_code == 1
    assert f"imwk retry {cube}" in again.stderr
    assert imwk("retry", cube, "--workers", 1).exit_code == 0
    assert not read_ledger(cube).failed


def test_damage_is_listed_and_repaired(spec_file: Path, cube: Path) -> None:
    assert imwk("verify", cube).output == "2 tiles read, 0 damaged.\n"
    chunk = cube / "imwk_ari" / "c.0.1.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    found = imwk("verify", cube)
    assert found.exit_code == 1
    assert found.output.startswith(f"{SECOND}: imwk_ari cannot be read")
    again = imwk("verify", cube, "--recompute", 9)
    assert f"{SECOND}: imwk_ari cannot be read" in again.output
    assert "1 tiles computed again: all equal" in again.output
    assert_refused(imwk("summary", cube), "imwk verify CUBE --repair")
    facts = json.loads(imwk("verify", cube, "--repair", "--json").output)
    assert (facts["repaired"], facts["damaged"][0]["dataset"]) == (True, 1)
    assert imwk("submit", spec_file, cube, "--workers", 1).exit_code == 0
    assert imwk("verify", cube, "--recompute", 9).output.endswith(
        "2 tiles computed again: all equal, bit for bit.\n"
    )


def test_recomputing_tells_wrong_values_from_another_machine(cube: Path) -> None:
    result = run_tile(SPEC, FIRST)
    result.arrays["imwk_ari"][0] += 1e-15
    write_tile(cube, FIRST, [result])
    here = imwk("verify", cube, "--recompute", 2)
    assert here.exit_code == 1
    assert f"{FIRST}: 83.33% equal" in here.output
    pretend_another_numpy(cube)
    elsewhere = imwk("verify", cube, "--recompute", 2)
    assert elsewhere.exit_code == 0
    assert "91.67% of the values are equal. The cube was computed with other" in elsewhere.output


def pretend_another_numpy(cube: Path) -> None:
    (record,) = cube.glob(f"{SESSIONS}/*/{DOCUMENT}")
    content = json.loads(record.read_text())
    content["attributes"]["versions"]["numpy"] = "1.0"
    record.write_text(json.dumps(content))


def test_the_summary_has_the_best_exponents(cube: Path) -> None:
    text = imwk("summary", cube).output
    ari = [run_tile(SPEC, tile).arrays["imwk_ari"] for tile in SPEC.tiles]
    mean = np.mean(ari, axis=0)
    best = int(mean.argmax())
    assert f"{mean[best]:.3f} ({SPEC.p1[best]:g})" in text
    assert "Mean adjusted Rand index, range" in text


def test_the_quick_preset_is_what_make_run_computes() -> None:
    assert "/imwk submit quick results/quick.zarr\n" in (ROOT / "Makefile").read_text()
