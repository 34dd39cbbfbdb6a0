import csv
import json
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import Result

from storage import create_cube, open_cube
from storage.tiles import mark_failed
from tests.storage.made_up import fill, small_spec
from tests.workflows.commands import assert_refused, imwk


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube whose second configuration has one of its two data sets."""
    location, spec = tmp_path_factory.mktemp("query") / "cube.zarr", small_spec()
    create_cube(location, spec)
    left_out = [tile for tile in spec.tiles if tile.config == "1000x12-6" and tile.dataset == 1]
    fill(location, [tile for tile in spec.tiles if tile not in left_out])
    for tile in left_out:
        mark_failed(location, tile, "made to fail")
    return location


@pytest.fixture(scope="module")
def cube(location: Path) -> xr.Dataset:
    return open_cube(location).load()


def run(location: Path, *options: str) -> Result:
    return imwk("query", location, *options, COLUMNS="120")


def records(location: Path, *options: str) -> list[dict[str, Any]]:
    result = run(location, *options, "--json")
    assert result.exit_code == 0, result.output
    found: list[dict[str, Any]] = json.loads(result.stdout)
    return found


def test_every_done_cell_is_a_row(location: Path, cube: xr.Dataset) -> None:
    rows = records(location)
    assert len(rows) == 6 * 6
    for row in rows:
        value = row.pop("rescaled_imwk_ari")
        assert float(cube.rescaled_imwk_ari.sel(row)) == value


def test_options_select_rows(location: Path, cube: xr.Dataset) -> None:
    chosen = ("--config", "1000x6-3", "--normalisation", "range", "--dataset", "1")
    rows = records(location, *chosen, "--p1", "1.4000001", "--p2", "3")
    at = {"config": "1000x6-3", "normalisation": "range", "dataset": 1, "p1": 1.4, "p2": 3.0}
    assert rows == [{**at, "rescaled_imwk_ari": float(cube.rescaled_imwk_ari.sel(at))}]


def test_restarts_are_averaged(location: Path, cube: xr.Dataset) -> None:
    rows = records(location, "--variable", "kmeans_ari", "--config", "1000x6-3", "--dataset", "0")
    runs = cube.kmeans_ari.sel(config="1000x6-3", dataset=0).values
    assert [row["kmeans_ari"] for row in rows] == pytest.approx(runs.mean(axis=1).tolist())


def test_means_come_with_the_number_of_data_sets(location: Path, cube: xr.Dataset) -> None:
    rows = records(location, "--average", "--p1", "2", "--p2", "1.5", "--normalisation", "z-score")
    assert [(row["config"], row["datasets"]) for row in rows] == [("1000x6-3", 2), ("1000x12-6", 1)]
    both = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="z-score", p1=2, p2=1.5)
    assert rows[0]["rescaled_imwk_ari"] == pytest.approx(float(np.mean(both)))
    assert rows[1]["spread"] is None


def test_best_of_each_data_set_and_best_on_average(location: Path, cube: xr.Dataset) -> None:
    rows = records(location, "--best", "--config", "1000x6-3", "--normalisation", "range")
    grids = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="range").values
    assert [row["rescaled_imwk_ari"] for row in rows] == grids.max(axis=(1, 2)).tolist()
    (row,) = records(
        location, "--best", "--average", "--config", "1000x6-3", "--normalisation", "range"
    )
    assert row["rescaled_imwk_ari"] == pytest.approx(grids.mean(axis=0).max())
    assert (row["datasets"], row["p1"] in cube.p1, row["p2"] in cube.p2) == (2, True, True)


def test_top_gives_the_highest_first(location: Path, cube: xr.Dataset) -> None:
    rows = records(location, "--top", "3")
    values = cube.rescaled_imwk_ari.values
    highest = np.sort(values[~np.isnan(values)])[::-1][:3]
    assert [row["rescaled_imwk_ari"] for row in rows] == highest.tolist()


def test_csv_has_the_rows_of_json(location: Path) -> None:
    result = run(location, "--best", "--csv")
    written = list(csv.DictReader(StringIO(result.stdout)))
    rows = records(location, "--best")
    assert [float(row["rescaled_imwk_ari"]) for row in written] == [
        row["rescaled_imwk_ari"] for row in rows
    ]
    assert list(written[0]) == list(rows[0])


def test_a_long_table_is_cut_and_the_caption_says_so(location: Path) -> None:
    output = run(location).output
    assert sum(line.startswith(" 1000x") for line in output.splitlines()) == 20
    caption = "16 more rows are not shown. Select fewer, use --top, or print all rows with --csv"
    assert caption in " ".join(output.split())
    assert "data sets" in run(location, "--average").output


def test_a_cube_without_results_gives_an_empty_answer(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    assert records(tmp_path / "cube.zarr", "--best") == []
    assert run(tmp_path / "cube.zarr", "--average").exit_code == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--p1", "1.3"], "Near it are 1.1, 1.4, 2."),
        (["--p1", "nan"], "must be a finite number of at least 1, got nan"),
        (["--normalisation", "zscore"], "Did you mean 'z-score'?"),
        (["--config", "1000x66-3"], "Did you mean '1000x6-3'?"),
        (["--variable", "imwk_air"], "Did you mean 'imwk_ari'?"),
        (["--dataset", "5"], "It has 0 to 1"),
        (["--variable", "kmeans_ari", "--p1", "2"], "does not depend on p1"),
        (["--variable", "kmeans_ari", "--best"], "has no exponents"),
        (["--json", "--csv"], "only one of --json and --csv"),
        (["--top", "0"], "--top"),
    ],
)
def test_mistakes_are_named(location: Path, options: list[str], message: str) -> None:
    assert_refused(run(location, *options), message)


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube with the silhouette of everything."""
    location = tmp_path_factory.mktemp("scored") / "cube.zarr"
    create_cube(location, small_spec(count=1, scores=["silhouette"]))
    fill(location)
    return location


def test_a_choice_by_a_score_is_shown_with_its_ari_and_the_best(scored: Path) -> None:
    cube = open_cube(scored).load()
    rows = records(scored, "--best", "--by", "silhouette", "--normalisation", "range")
    assert [row["config"] for row in rows] == ["1000x6-3", "1000x12-6"]
    for row in rows:
        grid = cube.sel(config=row["config"], dataset=0, normalisation="range")
        assert row["rescaled_imwk_silhouette"] == float(grid.rescaled_imwk_silhouette.max())
        chosen = grid.sel(p1=row["p1"], p2=row["p2"])
        assert row["rescaled_imwk_silhouette"] == float(chosen.rescaled_imwk_silhouette)
        assert row["ari"] == float(chosen.rescaled_imwk_ari)
        assert row["best_ari"] == float(grid.rescaled_imwk_ari.max())
    header = run(scored, "--best", "--by", "silhouette").output
    assert "ARI there" in header
    assert "best ARI" in header


def test_a_choice_by_a_score_can_be_of_other_algorithms_and_on_average(scored: Path) -> None:
    options = ("--best", "--by", "silhouette", "--variable", "rescaled_kmeans_ari", "--average")
    (row,) = records(scored, *options, "--top", "1")
    assert list(row)[2:] == ["p1", "rescaled_kmeans_silhouette", "spread", "datasets", *ARIS]


ARIS = ("ari", "best_ari")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--by", "silhouette"], "Give both. See --best and --by."),
        (["--best", "--by", "silhuette"], "Did you mean 'silhouette'?"),
        (["--best", "--by", "calinski-harabasz"], "does not name calinski-harabasz"),
        (["--best", "--by", "silhouette", "--variable", "kmeans_ari"], "has no exponents"),
    ],
)
def test_a_choice_that_cannot_be_made_is_refused(
    scored: Path, options: list[str], message: str
) -> None:
    assert_refused(run(scored, *options), message)


def test_a_missing_cube_and_damage_are_errors(tmp_path: Path) -> None:
    assert "There is no cube at" in run(tmp_path / "none.zarr").output
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec())
    fill(location)
    for chunk in (location / "rescaled_imwk_ari").glob("c.*"):
        chunk.write_bytes(b"damaged")
    result = run(location)
    assert result.exit_code == 2
    assert "imwk verify CUBE --repair" in result.output


def test_export_prints_the_number_of_rows(location: Path, tmp_path: Path) -> None:
    result = imwk("export", location, "--output", tmp_path / "out.csv")
    assert result.exit_code == 0
    assert result.output.startswith("234 rows in ")
    refused = imwk("export", location, "-o", "out.txt")
    assert_refused(refused, "ends in .csv or .parquet")
