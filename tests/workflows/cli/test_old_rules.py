"""Commands on a cube of an earlier version, which was computed by other rules."""

import json
import shutil
import zipfile
from pathlib import Path
from typing import Any

import pytest

from pipeline.rules import FIRST_RULES
from pipeline.spec.sweep import Sweep
from storage import read_spec
from tests.own_tables import small_table
from tests.storage import old_cubes
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import choose, submit

ARCHIVE = Path(old_cubes.__file__).parent / "v0_1_0" / "cube.zip"
DOCUMENT = "zarr.json"


@pytest.fixture
def old(tmp_path: Path) -> Path:
    with zipfile.ZipFile(ARCHIVE) as archive:
        archive.extractall(tmp_path)
    return next(tmp_path.glob("*.zarr"))


@pytest.mark.parametrize(
    "command",
    [
        ["retry", "CUBE", "--workers", "1"],
        ["score", "CUBE", "--add", "davies-bouldin"],
        ["verify", "CUBE", "--recompute", "1"],
        ["verify", "CUBE", "--recompute", "1", "--repair"],
        ["cluster", "CUBE", "--config", "labelled"],
    ],
    ids=" ".join,
)
def test_commands_that_would_compute_say_why_they_do_not(old: Path, command: list[str]) -> None:
    before = (old / DOCUMENT).read_bytes()
    result = imwk(*(str(old) if word == "CUBE" else word for word in command))
    assert_refused(result)
    assert (old / DOCUMENT).read_bytes() == before
    if command[0] != "score":  # keeps no labels, which comes first
        assert "version 1 of the rules" in " ".join(result.stderr.split())


def test_commands_that_read_work(old: Path, tmp_path: Path) -> None:
    assert json.loads(output_of("status", old, "--json"))["done"] == 11
    assert "0 damaged" in output_of("verify", old)
    assert "1000x6-3" in output_of("query", old, "--best")
    output_of("export", old, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").stat().st_size > 1000


def as_first_rules(cube: Path, copy: Path) -> Path:
    """Return a copy of a cube whose metadata are those of a cube by the first rules."""
    shutil.copytree(cube, copy)
    spec = read_spec(copy).model_copy(update={"rules": FIRST_RULES})
    document = json.loads((copy / DOCUMENT).read_bytes())
    del document["attributes"]["spec"]["rules"]
    document["attributes"]["fingerprint"] = spec.fingerprint
    (copy / DOCUMENT).write_text(json.dumps(document))
    return copy


def test_what_is_kept_can_be_chosen_and_shown_but_not_scored(tmp_path: Path) -> None:
    swept = tmp_path / "my.zarr"
    keys: dict[str, Any] = {"normalisations": ["z-score"], "restarts": 2, "p1": [1.5, 2], "p2": [3]}
    submit(Sweep.of({"my": small_table(3)}, k=3, **keys), swept, workers=0)
    old = as_first_rules(swept, tmp_path / "old.zarr")
    assert read_spec(old).rules == FIRST_RULES
    assert "0 damaged" in output_of("verify", old)
    assert [str(each) for each in choose(old)] == [str(each) for each in choose(swept)]
    assert output_of("cluster", old) == output_of("cluster", swept)
    assert_refused(imwk("score", old, "--add", "davies-bouldin"), "version 1 of the rules")
