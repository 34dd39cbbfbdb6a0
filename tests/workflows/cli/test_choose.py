"""The commands `imwk choose` and `imwk score`: what they print and what they refuse."""

import json
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline import make_table
from pipeline.spec.sweep import Sweep
from storage.tiles import mark_missing
from tests.own_tables import small_table
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import submit


@pytest.fixture(scope="module")
def three_counts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of one table, which has three clusters, with k = 2, 3 and 4."""
    location = tmp_path_factory.mktemp("counts") / "counts.zarr"
    keys: dict[str, Any] = {"normalisations": ["range"], "p1": [2], "p2": [2], "restarts": 3}
    random = np.random.default_rng(1)
    middles = np.repeat(random.normal(0, 1, (3, 6)), 60, axis=0)
    table = make_table(middles + random.normal(0, 0.1, middles.shape))
    submit(Sweep.of({"mine": table}, k=[2, 3, 4], **keys), location, workers=0)
    return location


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
    found = json.loads(output_of("choose", own, "--labels", tmp_path / "some.csv", "--json"))
    (facts,) = found["datasets"]
    assert found["cluster_counts"] == []
    rules = [pick["rule"] for pick in facts["picks"]]
    assert rules == ["info", "central", "silhouette", "calinski-harabasz", "by your labels"]
    assert facts["baseline"]["part"] == "kmeans"
    assert facts["agreement"]["info"]["info"] == 1
    assert facts["picks"][-1]["score"] == 1  # small clusters that are far apart
    assert facts["take"] == "by your labels"


def test_missing_tiles_are_counted(own: Path, tmp_path: Path) -> None:
    part = tmp_path / "part.zarr"
    keys: dict[str, Any] = {"normalisations": ["range", "z-score"], "p1": [2], "p2": [2]}
    sweep = Sweep.of({"mine": small_table(labelled=False)}, k=3, restarts=2, **keys)
    submit(sweep, part, workers=0)
    mark_missing(part, sweep.spec.tiles[:1])
    first, *_ = output_of("choose", part).splitlines()
    assert first == "1 of 2 tiles are done. Only their runs compete."
    tiles = json.loads(output_of("choose", part, "--json"))["tiles"]
    assert tiles == {"done": 1, "total": 2}
    assert "tiles are done" not in output_of("choose", own)


def test_numbers_of_clusters_are_compared_by_what_may_be_compared(three_counts: Path) -> None:
    text = output_of("choose", three_counts)
    _, _, counts = text.partition("Numbers of clusters")
    header = next(line for line in counts.splitlines() if "configuration" in line)
    assert header.split() == ["configuration", "k", "info", "silhouette", "calinski-harabasz"]
    assert "Values of central may not be compared" in counts
    assert "All rules prefer it." in text.splitlines()[-1]
    (facts,) = json.loads(output_of("choose", three_counts, "--json"))["cluster_counts"]
    assert facts["configs"] == ["mine k=2", "mine k=3", "mine k=4"]
    assert set(facts["preferred"].values()) == {3}
    only = output_of("choose", three_counts, "--config", "mine k=2")
    assert "Numbers of clusters" not in only


def test_the_summary_shows_the_default_choice(own: Path, cube: Path) -> None:
    (picked,) = json.loads(output_of("choose", own, "--json"))["datasets"]
    (info,) = [pick for pick in picked["picks"] if pick["rule"] == "info"]
    _, _, overview = output_of("summary", own).partition("Chosen without classes")
    row = next(line for line in overview.splitlines() if "mine" in line)
    assert row.split()[:3] == ["mine", "0", "info"]
    assert info["normalisation"] in row
    assert f"p1 = {info['p1']:g}" in row
    assert "Chosen without classes" not in output_of("summary", cube)  # it keeps no labels


def test_the_report_shows_the_choice(own: Path, tmp_path: Path) -> None:
    output_of("report", own, "-o", tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    _, _, section = page.partition('<section id="choice-without-classes"')
    advice = output_of("choose", own).splitlines()[-1]
    assert escape(advice) in section
    for rule in ("info (default)", "central", "silhouette", "calinski-harabasz"):
        assert f"<bdi>{rule}</bdi>" in section


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
    assert_refused(imwk("score", own, "--add", "central"), "imwk choose and imwk cluster --by ce")
    assert_refused(
        imwk("score", own, "--add", "ari"), "ari is computed by every sweep of data with"
    )
    assert_refused(imwk("score", cube, "--add", "info"), 'scores = ["info"]')
    assert_refused(imwk("score", own), "Missing option '--add'")
