"""The commands status and summary, and the old form of export."""

import json
from pathlib import Path

import numpy as np

from pipeline.execution.block import run_tile
from tests.workflows.cli.small import SPEC, make_first_fail, sweep, written
from tests.workflows.commands import assert_refused, imwk, output_of


def test_status_counts_by_configuration_and_prints_errors(cube: Path) -> None:
    larger = written(sweep(p1=[1.5, 2, 3]), cube.with_name("larger.toml"))
    assert imwk("extend", cube, larger, "--workers", 1).exit_code == 0
    make_first_fail(cube)
    facts = json.loads(imwk("status", cube, "--json").output)
    assert facts["configs"] == {"1000x6-3": {"tiles": 2, "done": 1, "failed": 1, "missing": 0}}
    assert facts["errors"][0]["error"] == "the reason"
    text = imwk("status", cube).output
    assert "1000x6-3, data set 0, range: the reason" in text


def test_the_summary_has_the_best_exponents(cube: Path) -> None:
    text = output_of("summary", cube)
    ari = [run_tile(SPEC, tile).arrays["imwk_ari"] for tile in SPEC.tiles]
    mean = np.mean(ari, axis=0)
    best = int(mean.argmax())
    assert f"{mean[best]:.3f} ({SPEC.p1[best]:g})" in text
    assert "Mean adjusted Rand index, range" in text


def test_export_accepts_its_old_second_argument_with_a_notice(cube: Path) -> None:
    new, old = cube.with_name("new.csv"), cube.with_name("old.csv")
    assert imwk("export", cube, "--output", new).stderr == ""
    result = imwk("export", cube, old)
    assert result.exit_code == 0
    assert result.stderr == (
        "Warning: the argument OUT is now --output. The next release drops the old name.\n"
    )
    assert old.read_bytes() == new.read_bytes()
    assert_refused(imwk("export", cube, old, "-o", new), "Give --output only.")
    assert_refused(imwk("export", cube), "Give the file to write with --output FILE.")
    assert "OUT" not in imwk("export", "--help").output.split("\n")[0].split("[OPTIONS]")[1]
