"""Every score of a sweep, from a table to queries, pictures, the report and exports."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pipeline.score_facts import SCORE_FACTS, SCORES, suffix
from pipeline.spec import Sweep
from storage import open_cube
from tests.own_tables import small_table, written
from tests.reports import data_of
from tests.workflows.commands import assert_refused, output_of
from tests.workflows.commands import imwk as command
from workflows import submit

SPEC = f"""
normalisations = ["range"]
restarts = 2
scores = {json.dumps(["ari", *SCORES])}
[datasets.tables.mine]
file = "my.csv"
label = "species"
[p1]
values = [1.3, 2, 4]
[p2]
values = [1.5, 3]
"""
#: A sweep of one pair of exponents.
ONE_PAIR: dict[str, Any] = {"normalisations": ["range"], "restarts": 0, "p1": [2], "p2": [2]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table and its cube."""
    folder = tmp_path_factory.mktemp("scored")
    written(small_table(seed=3), folder / "my.csv")
    (folder / "my.toml").write_text(SPEC)
    submit(folder / "my.toml", folder / "my.zarr", workers=0)
    return folder


@pytest.mark.parametrize("score", SCORES)
def test_every_score_can_choose_exponents(folder: Path, score: str) -> None:
    name = f"rescaled_imwk_{suffix(score)}"
    grid = open_cube(folder / "my.zarr")[name].values.squeeze()
    best = grid.max() if SCORE_FACTS[score].higher_is_better else grid.min()
    answer = output_of("query", folder / "my.zarr", "--best", "--by", score, "--json")
    (row,) = json.loads(answer)
    assert row[name] == best
    assert grid[[1.3, 2, 4].index(row["p1"]), [1.5, 3].index(row["p2"])] == best
    assert {"ari", "best_ari"} <= set(row)


@pytest.mark.parametrize("score", ["silhouette", "davies-bouldin"])
def test_the_best_rows_come_first(folder: Path, score: str) -> None:
    name = f"rescaled_imwk_{suffix(score)}"
    asked = ("query", folder / "my.zarr", "--variable", name, "--top", 2, "--json")
    values = np.sort(open_cube(folder / "my.zarr")[name].values.ravel())
    best = values[::-1] if SCORE_FACTS[score].higher_is_better else values
    assert [row[name] for row in json.loads(output_of(*asked))] == best[:2].tolist()


def test_every_score_is_in_the_report_the_heatmaps_and_the_export(folder: Path) -> None:
    cube, names = folder / "my.zarr", [f"rescaled_imwk_{suffix(score)}" for score in SCORES]
    for name in names:
        drawn = output_of("heatmaps", cube, "--variable", name, "-o", folder)
        assert drawn.splitlines() == [str(folder / f"{name}-range.png")]
    output_of("report", cube, "-o", folder / "my.html")
    shown = data_of((folder / "my.html").read_text())["results"]
    assert set(names) <= {result["name"] for result in shown}
    output_of("export", cube, "-o", folder / "out.csv")
    lines = (folder / "out.csv").read_text().splitlines()
    for name in names:
        assert sum(f",{name}," in line for line in lines) == 6
    verified = json.loads(output_of("verify", cube, "--recompute", 1, "--json"))
    assert not verified["damaged"]


def test_an_undefined_score_is_null_in_json(tmp_path: Path) -> None:
    cube = tmp_path / "one.zarr"
    submit(
        Sweep.of({"mine": small_table()}, 1, scores=["davies-bouldin"], **ONE_PAIR), cube, workers=0
    )
    name = "rescaled_imwk_davies_bouldin"
    (row,) = json.loads(output_of("query", cube, "--variable", name, "--json"))
    assert row[name] is None
    assert float(open_cube(cube)[name].squeeze()) == np.inf


def test_a_summary_shows_the_first_score_that_there_is(tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    table = small_table(labelled=False)
    submit(Sweep.of({"mine": table}, 3, scores=["davies-bouldin"], **ONE_PAIR), cube, workers=0)
    value = float(open_cube(cube).rescaled_imwk_davies_bouldin.squeeze())
    shown = output_of("summary", cube)
    assert "Mean Davies-Bouldin score (lower is better), range" in shown
    assert f"{value:.3f} (2, 2)" in shown


def test_the_central_partition_is_not_a_score_of_a_sweep(folder: Path) -> None:
    asked = ("--best", "--by", "central")
    refused = command("query", folder / "my.zarr", *asked)
    assert_refused(refused, "it is not stored (imwk choose, or imwk cluster --by central)")
    found = json.loads(output_of("cluster", folder / "my.zarr", "--by", "central", "--json"))
    assert found["by"] == "central"
