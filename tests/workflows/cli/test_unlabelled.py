"""Data without classes, from a file to the exponents that a score chooses."""

import json
from pathlib import Path

import pytest
from sklearn.metrics import silhouette_score

from pipeline.core import imwk, normalise, rescale
from storage import open_cube
from storage.query import main_variable
from tests.own_tables import small_table, written
from tests.reports import data_of, read_page
from tests.workflows.commands import assert_refused, output_of
from tests.workflows.commands import imwk as command
from workflows import submit
from workflows.plots.heatmaps import mean_grids

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


def test_the_silhouette_chooses_exponents(folder: Path) -> None:
    answer = output_of("query", folder / "my.zarr", "--best", "--by", "silhouette", "--json")
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
        output_of("query", folder / "my.zarr", "--best", "--by", "silhouette", "--json")
    )
    exponents = ("--p1", row["p1"], "--p2", row["p2"])
    found = json.loads(output_of("cluster", folder / "my.csv", "--k", 3, *exponents, "--json"))
    assert found["silhouette"] == row["rescaled_imwk_silhouette"]


def test_an_ari_is_refused_and_the_message_names_the_silhouette(folder: Path) -> None:
    result = command("query", folder / "my.zarr", "--variable", "rescaled_imwk_ari")
    assert_refused(result, "there is no ARI without labels", "rescaled_imwk_silhouette")


def test_every_command_uses_the_silhouette_by_default(folder: Path) -> None:
    cube, pictures, page = folder / "my.zarr", folder / "pictures", folder / "my.html"
    best = float(open_cube(cube).rescaled_imwk_silhouette.max())
    (row,) = json.loads(output_of("query", cube, "--best", "--json"))
    assert row["rescaled_imwk_silhouette"] == best
    (chosen,) = json.loads(output_of("query", cube, "--best", "--by", "silhouette", "--json"))
    assert chosen == row | {"clusters": chosen["clusters"]}
    drawn = output_of("heatmaps", cube, "-o", pictures)
    assert drawn.splitlines() == [str(pictures / "rescaled_imwk_silhouette-range.png")]
    shown = output_of("summary", cube)
    assert "Mean silhouette, range" in shown
    assert f"{best:.3f} (" in shown
    assert "No ARI, because there are no labels: mine." in output_of("status", cube)
    assert output_of("tables", cube).startswith("This cube covers 0 of the 456")
    verified = json.loads(output_of("verify", cube, "--recompute", 1, "--json"))
    assert not verified["damaged"]
    output_of("report", cube, "-o", page)
    about_the_page(page.read_text(), best)
    output_of("export", cube, "-o", folder / "my-results.csv")
    lines = (folder / "my-results.csv").read_text().splitlines()
    assert sum(",rescaled_imwk_silhouette," in line for line in lines) == 6
    assert not any("_ari," in line for line in lines)


def about_the_page(page: str, best: float) -> None:
    """Check what a report shows first, and that it does not mention the paper."""
    first = data_of(page)["results"][0]
    assert first["name"] == "rescaled_imwk_silhouette"
    ((picture,),) = first["pictures"]
    assert picture["highest"] == best
    assert picture["expected"] is None  # no cell is white
    text = " ".join(read_page(page).texts)
    assert "No ARI, because there are no labels: mine." in text
    assert "published values" not in text


def test_the_heatmap_is_coloured_though_kmeans_has_a_better_silhouette(folder: Path) -> None:
    cube = open_cube(folder / "my.zarr").load()
    cube["kmeans_silhouette"] = cube["kmeans_silhouette"] * 0 + 1
    assert mean_grids(cube, main_variable(cube)).beats.all()


def test_each_configuration_uses_the_ari_only_if_it_has_labels(folder: Path) -> None:
    written(small_table(), folder / "classes.csv")
    known = '[datasets.tables.known]\nfile = "classes.csv"\nlabel = "species"\n'
    (folder / "both.toml").write_text(SPEC + known)
    submit(folder / "both.toml", folder / "both.zarr", workers=0)
    for config, result in (("mine", "rescaled_imwk_silhouette"), ("known", "rescaled_imwk_ari")):
        options = ("--config", config, "--best", "--json")
        (row,) = json.loads(output_of("query", folder / "both.zarr", *options))
        assert list(row)[-1] == result
    asked = ("--config", "mine", "--variable", "rescaled_imwk_ari")
    refused = command("query", folder / "both.zarr", *asked)
    assert_refused(refused, "there is no ARI without labels")
