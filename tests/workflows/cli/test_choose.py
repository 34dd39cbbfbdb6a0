"""The commands `imwk choose` and `imwk score`: what they print and what they refuse."""

import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.spec.sweep import Sweep
from tests.own_tables import small_table
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import submit


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    location = tmp_path_factory.mktemp("own") / "own.zarr"
    keys: dict[str, Any] = {
        "normalisations": ["range"],
        "p1": [1.5, 2, 4],
        "p2": [2, 3],
        "restarts": 3,
    }
    submit(Sweep.of({"mine": small_table(labelled=False)}, k=3, **keys), location, workers=0)
    return location


def test_every_rule_has_a_row_and_the_advice_follows(own: Path) -> None:
    text = output_of("choose", own, "--ensemble")
    rows = text.partition("How far")[0]
    for rule in ("info (default)", "central", "silhouette", "calinski-harabasz", "ensemble"):
        assert f"\n {rule} " in rows
    assert "baseline, by info" in rows
    assert "neither exponents nor weights" in text
    assert text.splitlines()[-1].startswith("Advice: ")


def test_json_has_what_the_table_has(own: Path, tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text("1,x\n2,y\n3,z\n")
    (facts,) = json.loads(output_of("choose", own, "--labels", tmp_path / "some.csv", "--json"))
    rules = [pick["rule"] for pick in facts["picks"]]
    assert rules == ["info", "central", "silhouette", "calinski-harabasz", "your labels"]
    assert facts["baseline"]["part"] == "kmeans"
    assert facts["agreement"]["info"]["info"] == 1
    assert facts["picks"][-1]["score"] == 1  # small clusters that are far apart
    assert facts["take"] == "your labels"


def test_a_cube_that_keeps_no_labels_is_refused(cube: Path) -> None:
    assert_refused(imwk("choose", cube), "has no labels", 'with keep = ["labels", "weights"]')


def test_unknown_configurations_and_data_sets_are_refused(own: Path) -> None:
    assert_refused(imwk("choose", own, "--config", "other"), "Unknown configuration 'other'")
    assert_refused(imwk("choose", own, "--dataset", 7), "no data set 7")


def test_scores_are_added_once(own: Path) -> None:
    arguments = ("score", own, "--add", "davies-bouldin", "--add", "info")
    assert output_of(*arguments) == "added: davies-bouldin\n"
    assert output_of(*arguments) == "the cube has these scores already\n"
    output_of("query", own, "--variable", "imwk_davies_bouldin", "--best")


def test_scores_that_cannot_be_added_are_refused(own: Path, cube: Path) -> None:
    assert_refused(imwk("score", own, "--add", "ami"), "ami needs classes", "See --add.")
    assert_refused(imwk("score", own, "--add", "central"), "imwk choose computes it")
    assert_refused(imwk("score", cube, "--add", "info"), 'scores = ["info"]')
    assert_refused(imwk("score", own), "Missing option '--add'")
