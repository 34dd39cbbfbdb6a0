"""The examples run as they are, in a folder of their own."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.faults import ROOT
from workflows import submit
from workflows.cli.main import main as imwk

EXAMPLES = ROOT / "examples"
#: What each script prints when it has done its work.
PRINTED = {
    "cluster_csv.py": r"120 rows in clusters of \[.*length_mm +0\.38.*the labels are in labels.csv",
    "sklearn_pipeline.py": r"ARI 0\.[78].*ARI 0\.[78].*best silhouette: \d",
    "small_sweep.py": r"2 of 2 tiles done.*best: ARI 0\.373 at p1 = 1\.5, p2 = 3\.0",
}


def test_all_scripts_are_tried() -> None:
    assert {file.name for file in EXAMPLES.glob("*.py")} == set(PRINTED)


@pytest.mark.parametrize("name", PRINTED)
def test_a_script_runs_and_prints_its_results(name: str, tmp_path: Path) -> None:
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(PRINTED[name], done.stdout, re.DOTALL)


def test_the_spec_can_be_swept_and_queried(tmp_path: Path) -> None:
    cube = str(tmp_path / "parts.zarr")
    assert submit(EXAMPLES / "sweep.toml", cube, workers=0).done == 2
    asked = CliRunner().invoke(imwk, ["query", cube, "--best"], catch_exceptions=False)
    best = re.findall(r"parts +0 +(\S+) .* (\S+) *$", asked.output, re.MULTILINE)
    assert dict(best) == {"range": "1.0000", "z-score": "1.0000"}


def test_commands_of_the_slurm_script_have_options_that_exist() -> None:
    script = (EXAMPLES / "slurm.sh").read_text().replace("\\\n", " ")
    commands = [shlex.split(line)[1:] for line in script.splitlines() if line.startswith("imwk ")]
    assert [verb for verb, *_ in commands] == ["submit", "status"]
    for verb, *arguments in commands:
        imwk.commands[verb].make_context(verb, arguments)
    subprocess.run(["bash", "-n", EXAMPLES / "slurm.sh"], check=True)


def test_the_index_names_every_example() -> None:
    index = (EXAMPLES / "README.md").read_text()
    assert {file.name for file in EXAMPLES.glob("*.*") if file.name not in index} == {"README.md"}
