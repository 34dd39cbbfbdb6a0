import hashlib
from base64 import b64encode
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from storage import create_cube, open_cube
from storage.tiles import mark_failed
from tests.reports import HOSTILE, data_of, named_page, pictures, read_page, unpacked
from tests.storage.grids import cube_of, plain_best, plain_mean
from tests.storage.made_up import fill, small_spec
from tests.workflows.commands import assert_refused, imwk
from workflows.report.figure_data import figure_data
from workflows.report.packing import ZERO, score_codes

ERROR = "made to fail"


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube whose second configuration has two of its three data sets."""
    location, spec = tmp_path_factory.mktemp("report") / "cube.zarr", small_spec(count=3)
    create_cube(location, spec)
    left_out = [tile for tile in spec.tiles if tile.config == "1000x12-6" and tile.dataset == 1]
    fill(location, [tile for tile in spec.tiles if tile not in left_out])
    for tile in left_out:
        mark_failed(location, tile, ERROR)
    return location


@pytest.fixture(scope="module")
def cube(location: Path) -> xr.Dataset:
    return open_cube(location).load()


@pytest.fixture(scope="module")
def results(cube: xr.Dataset) -> list[dict[str, Any]]:
    return figure_data(cube)


@pytest.fixture(scope="module")
def page(location: Path) -> str:
    out = location.with_name("report.html")
    result = run(location, out)
    assert result.exit_code == 0, result.output
    assert result.output.startswith(f"{out}: ")
    return out.read_text(encoding="utf-8")


def run(location: Path, out: Path) -> Result:
    return imwk("report", location, "-o", out)


def grids(cube: xr.Dataset, name: str, config: int, normalisation: int) -> np.ndarray[Any, Any]:
    """Return the results of the data sets that are done, restarts averaged."""
    values = cube[name].isel(config=config, normalisation=normalisation).values
    if "restart" in cube[name].dims:
        values = values.mean(axis=-1)
    there = ~np.isnan(values.reshape(len(values), -1)).all(axis=1)
    return np.asarray(values[there])


GRIDS = ("rescaled_imwk_ari", "rescaled_imwk_iterations", "rescaled_imwk_clusters")
CURVES = ("imwk_ari", "rescaled_kmeans_ari", "imwk_iterations", "imwk_clusters")


@pytest.mark.parametrize("name", [*GRIDS, *CURVES])
def test_means_are_over_the_data_sets_that_are_done(
    results: list[dict[str, Any]], cube: xr.Dataset, name: str
) -> None:
    seen = set()
    for config, normalisation, picture in pictures(results, name):
        values = grids(cube, name, config, normalisation)
        means = [plain_mean(cell)[0] for cell in values.reshape(len(values), -1).T]
        assert unpacked(picture["means"], np.float32) == pytest.approx(means, rel=1e-6)
        assert set(unpacked(picture["numbers"], np.uint32)) == {len(values)}
        seen.add(len(picture["datasets"]["labels"]))
    assert seen == {2, 3}


@pytest.mark.parametrize("name", ["rescaled_imwk_ari", "imwk_ari", "rescaled_kmeans_ari"])
def test_best_cells_and_expected_scores(
    results: list[dict[str, Any]], cube: xr.Dataset, name: str
) -> None:
    for config, normalisation, picture in pictures(results, name):
        values = grids(cube, name, config, normalisation)
        baseline = grids(cube, "kmeans_ari", config, normalisation)
        highest, place = plain_best(values.mean(axis=0).ravel())
        assert (picture["highest"], picture["best"]) == (pytest.approx(highest), place[0])
        assert picture["expected"] == pytest.approx(baseline.mean())
        singles = [plain_best(grid.ravel()) for grid in values]
        assert picture["datasets"]["best"] == [place[0] for _, place in singles]
        assert picture["datasets"]["highest"] == pytest.approx([high for high, _ in singles])
        assert picture["datasets"]["expected"] == pytest.approx(baseline.tolist())


def test_every_cell_of_a_data_set_is_shown_with_three_decimals(
    results: list[dict[str, Any]], cube: xr.Dataset
) -> None:
    for config, normalisation, picture in pictures(results, "rescaled_imwk_ari"):
        codes = unpacked(picture["datasets"]["grids"], np.uint32).astype(np.int64)
        shown = (codes - ZERO) // 2 / 1000
        values = grids(cube, "rescaled_imwk_ari", config, normalisation).ravel()
        assert [f"{cell:.3f}" for cell in shown] == [f"{value:.3f}" for value in values]
    for config, normalisation, picture in pictures(results, "rescaled_imwk_clusters"):
        counts = unpacked(picture["datasets"]["grids"], np.uint32)
        assert (
            counts.tolist()
            == grids(cube, "rescaled_imwk_clusters", config, normalisation).ravel().tolist()
        )


@given(score=st.floats(-1, 1), thousandth=st.integers(-1000, 1000))
def test_codes_round_and_compare_like_their_scores(score: float, thousandth: int) -> None:
    code = int(score_codes(np.array([score]))[0]) - ZERO
    assert abs(code // 2 / 1000 - score) <= 0.0005 + 1e-9
    if abs(score - thousandth / 1000) > 1e-9:
        assert (code > 2 * thousandth) == (score > thousandth / 1000)


@given(tenth=st.integers(-10_000, 10_000))
def test_scores_on_a_thousandth_are_not_above_it(tenth: int) -> None:
    code = int(score_codes(np.array([tenth / 10_000]))[0]) - ZERO
    assert (code > 2 * (tenth // 10)) == (tenth % 10 > 0)


def test_counts_have_neither_best_nor_threshold(results: list[dict[str, Any]]) -> None:
    for _, _, picture in pictures(results, "rescaled_imwk_clusters"):
        assert picture["best"] is picture["expected"] is picture["datasets"]["best"] is None


def test_nan_cells_have_no_code_and_do_not_count() -> None:
    values = [[[0.5, np.nan], [0.9, 0.1]], [[np.nan, np.nan], [0.2, 0.4]]]
    ari = np.array(values)[None, :, None]
    (result,) = figure_data(cube_of({"rescaled_imwk_ari": ari}, p1=[1.1, 2.0], p2=[1.5, 3.0]))
    picture = result["pictures"][0][0]
    codes = unpacked(picture["datasets"]["grids"], np.uint32)
    assert (codes == 0).tolist() == np.isnan(ari).ravel().tolist()
    assert unpacked(picture["numbers"], np.uint32).tolist() == [1, 0, 2, 2]
    assert np.isnan(unpacked(picture["means"], np.float32)).tolist() == [False, True, False, False]
    assert (picture["best"], picture["datasets"]["best"]) == (2, [2, 3])
    assert picture["expected"] is None


def test_scores_without_classes_have_no_threshold() -> None:
    cube = cube_of(
        {
            "kmeans_ari": [[[[0.9, 0.9]]]],
            "kmeans_silhouette": [[[[0.2, 0.4]]]],
            "imwk_silhouette": [[[[0.5]]]],
        },
        p1=[2.0],
    )
    (result,) = figure_data(cube)
    assert result["pictures"][0][0]["expected"] is None
    assert result["pictures"][0][0]["highest"] == 0.5


def test_scores_without_an_upper_bound_are_stored_unchanged() -> None:
    cube = cube_of({"imwk_calinski_harabasz": [[[[3e6, 0.0, np.nan]]]]}, p1=[1.1, 1.5, 2.0])
    (result,) = figure_data(cube)
    assert result["unbounded"]
    grid = unpacked(result["pictures"][0][0]["datasets"]["grids"], np.float32)
    np.testing.assert_array_equal(grid, [3e6, 0.0, np.nan])


def test_scores_below_minus_1_are_stored_unchanged() -> None:
    (result,) = figure_data(cube_of({"imwk_info": [[[[-3.25, 1.5]]]]}, p1=[1.1, 1.5]))
    grid = unpacked(result["pictures"][0][0]["datasets"]["grids"], np.float32)
    assert (result["unbounded"], grid.tolist()) == (True, [-3.25, 1.5])


def test_where_lower_is_better_the_lowest_is_marked_and_infinity_is_no_result() -> None:
    cube = cube_of({"imwk_davies_bouldin": [[[[np.inf, 0.75, 0.5]]]]}, p1=[1.1, 1.5, 2.0])
    (result,) = figure_data(cube)
    picture = result["pictures"][0][0]
    assert (picture["best"], picture["highest"]) == (2, 0.5)
    grid = unpacked(picture["datasets"]["grids"], np.float32)
    np.testing.assert_array_equal(grid, [np.nan, 0.75, 0.5])


def test_single_data_sets_are_left_out_where_they_do_not_fit(
    results: list[dict[str, Any]], cube: xr.Dataset
) -> None:
    sizes = {
        result["name"]: sum(len(p["datasets"]["grids"]) for row in result["pictures"] for p in row)
        for result in results
    }
    crowded = figure_data(cube, room=sizes["rescaled_imwk_ari"])
    for before, after in zip(results, crowded, strict=True):
        picture, same = before["pictures"][1][0], after["pictures"][1][0]
        fits = after["name"] == "rescaled_imwk_ari"
        assert same["datasets"]["grids"] == (picture["datasets"]["grids"] if fits else None)
        assert same["means"] == picture["means"]
        assert same["datasets"]["best"] == picture["datasets"]["best"]


def test_the_page_has_all_sections(page: str, location: Path, cube: xr.Dataset) -> None:
    text = " ".join(read_page(page).texts)
    assert f"{location.name}: report of imwk-sweep" in text
    assert "10 of 12 tiles done, 2 failed, 0 missing" in text
    assert ERROR in text
    assert "1000x12-6, data set 1, range" in text
    assert "This cube covers" in text
    assert "numpy 2" not in text  # no sweep ran: the tests filled the cube
    assert 'normalisations = ["z-score", "range"]' in text
    assert data_of(page)["p1"] == cube.p1.values.tolist()


def test_no_other_script_may_run_and_nothing_is_fetched(page: str) -> None:
    reader = read_page(page)
    run = [text for attributes, text in reader.scripts if "type" not in attributes]
    allowed = [b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in run]
    policy = unescape(page[: page.index("<title>")])
    assert len(run) == policy.count("sha256-") == 2
    assert all(f"'sha256-{digest}'" in policy for digest in allowed)
    assert "default-src 'none'" in policy
    assert not [tag for tag, names in reader.tags if {"src", "srcset", "data"} & set(names)]
    assert {tag for tag, _ in reader.tags} & {"link", "iframe", "object", "img", "base"} == set()


def test_hostile_names_are_only_text() -> None:
    harmless = read_page(named_page([f"name {number}" for number in range(len(HOSTILE))]))
    reader = read_page(named_page(HOSTILE))
    assert reader.tags == harmless.tags
    assert len(reader.scripts) == len(harmless.scripts)
    text = "".join(reader.texts)
    for name in HOSTILE:
        assert text.count(name) >= 5, name


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({"parts": ["imwk"]}, ["imwk_ari", "imwk_iterations", "imwk_clusters"]),
        ({"parts": ["rescaled_imwk"], "p1": [2.0], "p2": [2.0]}, list(GRIDS)),
        ({"restarts": 0}, [GRIDS[0], CURVES[0], *GRIDS[1:], *CURVES[2:]]),
    ],
)
def test_without_kmeans_there_is_no_threshold(
    tmp_path: Path, changes: dict[str, Any], shown: list[str]
) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec(configs=["1000x6-3"], count=1, **changes))
    fill(location)
    results = figure_data(open_cube(location).load())
    assert [result["name"] for result in results] == shown
    for name in shown:
        assert all(picture["expected"] is None for _, _, picture in pictures(results, name))


def test_kmeans_alone_has_no_figure(tmp_path: Path) -> None:
    location, out = tmp_path / "cube.zarr", tmp_path / "report.html"
    create_cube(location, small_spec(parts=["kmeans"]))
    fill(location)
    assert run(location, out).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert data_of(page)["results"] == []
    assert "nothing that depends on exponents" in page


def test_a_cube_of_failed_tiles_has_no_figures(tmp_path: Path) -> None:
    location, out = tmp_path / "cube.zarr", tmp_path / "report.html"
    spec = small_spec()
    create_cube(location, spec)
    for tile in spec.tiles:
        mark_failed(location, tile, ERROR)
    assert run(location, out).exit_code == 0
    page = out.read_text(encoding="utf-8")
    assert page.count(ERROR) == 1  # an error of several tiles is shown once
    assert all(
        picture is None
        for result in data_of(page)["results"]
        for row in result["pictures"]
        for picture in row
    )


def test_a_report_is_replaced_as_a_whole(location: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    out.write_text("the old one")
    broken = tmp_path / "cube.zarr"
    create_cube(broken, small_spec())
    fill(broken)
    for chunk in (broken / "rescaled_imwk_ari").glob("c.*"):
        chunk.write_bytes(b"damaged")
    assert_refused(run(broken, out), "imwk verify CUBE --repair")
    assert out.read_text() == "the old one"
    assert run(location, out).exit_code == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cube.zarr", "report.html"]


def test_a_file_that_cannot_be_written_is_an_error(location: Path, tmp_path: Path) -> None:
    out = tmp_path / "none" / "report.html"
    assert_refused(run(location, out), f"Cannot write {out}")
    assert list(tmp_path.iterdir()) == []
