"""Data without classes, from a file to the exponents that a score chooses."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from sklearn.metrics import silhouette_score

from pipeline.core import imwk, normalise, rescale
from storage import open_cube
from tests.own_tables import small_table, written
from workflows import submit
from workflows.cli import main

SPEC = """
normalisations = ["range"]
restarts = 2
[datasets.tables.mine]
file = "my.csv"
k = 3
[p1]
values = [1.3, 2, 4]
[p2]
values = [1.5, 3]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a table, its spec and its cube."""
    folder = tmp_path_factory.mktemp("own")
    written(small_table(labelled=False), folder / "my.csv")
    (folder / "my.toml").write_text(SPEC)
    submit(folder / "my.toml", folder / "my.zarr", workers=0)
    return folder


def imwk_command(*arguments: object) -> str:
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_silhouette_chooses_exponents(folder: Path) -> None:
    answer = imwk_command("query", folder / "my.zarr", "--best", "--by", "silhouette", "--json")
    (row,) = json.loads(answer)
    X = normalise(small_table().X, "range")
    grid = {}
    for p1 in (1.3, 2.0, 4.0):
        run = imwk(X, 3, p1)
        rescaled = rescale(X, run.labels, run.weights)
        for p2 in (1.5, 3.0):
            grid[p1, p2] = silhouette_score(X, imwk(rescaled, 3, p2).labels)
    assert row["rescaled_imwk_silhouette"] == pytest.approx(max(grid.values()), abs=1e-9)
    assert grid[row["p1"], row["p2"]] == pytest.approx(max(grid.values()), abs=1e-9)
    assert "ari" not in row


def test_one_clustering_at_the_chosen_exponents_has_the_same_silhouette(folder: Path) -> None:
    (row,) = json.loads(
        imwk_command("query", folder / "my.zarr", "--best", "--by", "silhouette", "--json")
    )
    exponents = ("--p1", row["p1"], "--p2", row["p2"])
    found = json.loads(imwk_command("cluster", folder / "my.csv", "--k", 3, *exponents, "--json"))
    assert found["silhouette"] == row["rescaled_imwk_silhouette"]


def test_without_an_ari_the_question_says_what_to_ask(folder: Path) -> None:
    result = CliRunner().invoke(main, ["query", str(folder / "my.zarr"), "--best"])
    assert result.exit_code == 2
    assert "--best --by silhouette" in result.output


def test_a_summary_is_by_the_silhouette(folder: Path) -> None:
    shown = imwk_command("summary", folder / "my.zarr")
    best = float(open_cube(folder / "my.zarr").rescaled_imwk_silhouette.max())
    assert "Mean silhouette, range" in shown
    assert f"{best:.3f} (" in shown


def test_the_cube_is_whole_and_is_exported(folder: Path) -> None:
    verified = json.loads(imwk_command("verify", folder / "my.zarr", "--recompute", 1, "--json"))
    assert not verified["damaged"]
    imwk_command("export", folder / "my.zarr", folder / "my-results.csv")
    lines = (folder / "my-results.csv").read_text().splitlines()
    assert sum(",rescaled_imwk_silhouette," in line for line in lines) == 6
    assert not any("_ari," in line for line in lines)
