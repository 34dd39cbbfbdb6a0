"""The command verify."""

import json
from pathlib import Path

import pytest

from pipeline.execution.block import run_tile
from storage.layout.skeleton import DOCUMENT
from storage.provenance import SESSIONS
from storage.tiles import write_tile
from tests.workflows.cli.small import FIRST, SECOND, SPEC, sweep
from tests.workflows.commands import assert_refused, imwk
from workflows import submit


def test_damage_is_listed_and_repaired(spec_file: Path, cube: Path) -> None:
    assert imwk("verify", cube).output == "2 tiles read, 0 damaged.\n"
    chunk = cube / "imwk_ari" / "c.0.1.0.0"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    found = imwk("verify", cube)
    assert found.exit_code == 1
    assert found.output.startswith(f"{SECOND}: imwk_ari cannot be read")
    again = imwk("verify", cube, "--recompute", 9)
    assert f"{SECOND}: imwk_ari cannot be read" in again.output
    assert "1 tile computed again: all equal" in again.output
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


@pytest.mark.parametrize("name", ["imwk_labels", "imwk_converged", "imwk_weights"])
def test_recomputing_compares_labels_and_weights_by_run(tmp_path: Path, name: str) -> None:
    spec, cube = sweep(keep=["labels", "weights"]), tmp_path / "cube.zarr"
    submit(spec, cube, workers=0)
    assert "all equal, bit for bit" in imwk("verify", cube, "--recompute", 2).output
    result = run_tile(spec, FIRST)
    values = result.arrays[name][1:].view("uint8" if name != "imwk_weights" else "uint32")
    values.flat[0] ^= 1  # the last bit of something of the second run
    write_tile(cube, FIRST, [result])
    found = imwk("verify", cube, "--recompute", 2)
    assert found.exit_code == 1
    assert f"{FIRST}: 91.67% equal" in found.output  # 1 of 12 values


def pretend_another_numpy(cube: Path) -> None:
    (record,) = cube.glob(f"{SESSIONS}/*/{DOCUMENT}")
    content = json.loads(record.read_text())
    content["attributes"]["versions"]["numpy"] = "1.0"
    record.write_text(json.dumps(content))
