"""A researcher's own experiment: a sweep over the share of noise, from the spec to the picture."""

import json
from pathlib import Path
from shutil import copytree

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from matplotlib.container import ErrorbarContainer
from PIL import Image

from pipeline.core.errors import InvalidInputError
from storage import create_cube, open_cube, read_ledger, select
from storage.tiles import mark_missing
from tests.storage.made_up import comparable
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import curve_points, load_sweep, submit
from workflows.plots.curves import draw_curves

SPEC = """
normalisations = ["range"]
restarts = 3
p1 = {values = [1.5, 3]}
p2 = {values = [2, 4]}
[datasets.generated.mine]
n = 90
least = 10
m = 6
k = [3, 6]
noise = "uniform"
noise_share = [0, 0.25, 0.5, 0.75]
count = 5
"""
SHARES = [0, 0.25, 0.5, 0.75]
ALGORITHMS = ["k-means++", "rescaled k-means++", "imwk-means", "rescaled imwk-means"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the spec and a larger one, and submit the first."""
    made = tmp_path_factory.mktemp("experiment")
    (made / "spec.toml").write_text(SPEC)
    (made / "larger.toml").write_text(SPEC.replace("0.75]", "0.75, 1]"))
    assert submit(made / "spec.toml", made / "cube.zarr", workers=0).done == 40
    return made


@pytest.fixture
def cube(folder: Path) -> Path:
    return folder / "cube.zarr"


def test_results_are_queried_by_share(cube: Path) -> None:
    printed = output_of(
        "query", cube, "--where", "noise_share=0.5", "--average", "--best", "--json"
    )
    rows = json.loads(printed)
    assert [row["config"] for row in rows] == [f"mine k={k} noise_share=0.5" for k in (3, 6)]
    assert [row["datasets"] for row in rows] == [5, 5]
    conditions = ("--where", "noise_share=0,0.25", "--where", "k=6")
    both = output_of("query", cube, *conditions, "--variable", "imwk_ari", "--csv")
    assert len(both.splitlines()) == 1 + 2 * 5 * 2


def test_conditions_that_no_configuration_meets_are_refused(cube: Path) -> None:
    assert_refused(imwk("query", cube, "--where", "noise_share=0.3"), "Known: 0.0, 0.25, 0.5, 0.75")
    assert_refused(imwk("query", cube, "--where", "noise_share"), "is not NAME=VALUE")
    assert_refused(imwk("query", cube, "--where", "shape=3"), "Unknown coordinate")
    assert_refused(imwk("curves", cube, "--over", "noise"), "Unknown number of configurations")
    assert_refused(imwk("curves", cube, "--json", "--csv"), "Give only one of")


def test_heatmaps_of_one_share(cube: Path, tmp_path: Path) -> None:
    drawn = output_of("heatmaps", cube, "--where", "noise_share=0.25", "-o", tmp_path)
    assert drawn.splitlines() == [str(tmp_path / "rescaled_imwk_ari-range.png")]


def test_points_are_means_with_standard_errors_at_the_best_exponents(cube: Path) -> None:
    points = pd.DataFrame(json.loads(output_of("curves", cube, "--json")))
    assert points["algorithm"].tolist() == ALGORITHMS * 8
    assert points["noise_share"].tolist() == [share for share in SHARES * 2 for _ in ALGORITHMS]
    opened = open_cube(cube).load().squeeze("normalisation")
    for row in points.itertuples():
        here = opened.sel(config=f"mine k={row.k} noise_share={row.noise_share:g}")
        of_datasets = {
            "k-means++": here.kmeans_ari.mean("restart"),
            "rescaled k-means++": here.rescaled_kmeans_ari.mean("restart"),
            "imwk-means": here.imwk_ari,
            "rescaled imwk-means": here.rescaled_imwk_ari,
        }[row.algorithm]
        at = {dim: getattr(row, dim) for dim in of_datasets.dims if dim != "dataset"}
        values = of_datasets.sel(at).values
        assert row.mean_ari == pytest.approx(values.mean())
        assert row.mean_ari == pytest.approx(float(of_datasets.mean("dataset").max()))
        assert row.standard_error == pytest.approx(values.std(ddof=1) / np.sqrt(5))
        assert row.datasets == 5
        assert np.isnan(row.p1) == (row.algorithm == "k-means++")


def test_curves_are_drawn_with_error_bars(cube: Path, tmp_path: Path) -> None:
    drawn = output_of("curves", cube, "-o", tmp_path).splitlines()
    assert drawn == [str(tmp_path / "curves-noise_share-range.png")]
    with Image.open(drawn[0]) as picture:
        assert min(picture.size) > 300
    (path,) = output_of("curves", cube, "-o", tmp_path, "--format", "pdf").split()
    assert Path(path).read_bytes().startswith(b"%PDF")
    points = curve_points(open_cube(cube))
    ((_, figure),) = draw_curves(points, "noise_share")
    assert [axes.get_title() for axes in figure.axes] == [f"k = {k}\n5 data sets" for k in (3, 6)]
    texts = " ".join(text.get_text() for text in figure.texts)
    assert "best on average" in texts
    three = points[(points.k == 3) & (points.algorithm == "imwk-means")]
    bars = next(bars for bars in figure.axes[0].containers if bars.get_label() == "imwk-means")
    assert isinstance(bars, ErrorbarContainer)
    line, _, (segments,) = bars.lines
    np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), three.mean_ari)
    half = [
        np.ptp(np.asarray(segment, dtype=float)[:, 1]) / 2 for segment in segments.get_segments()
    ]
    np.testing.assert_allclose(half, three.standard_error)


def test_curves_run_along_any_number(cube: Path) -> None:
    points = curve_points(select(open_cube(cube), where={"noise_share": 0.5}), over="k")
    assert points.columns[:3].tolist() == ["normalisation", "k", "algorithm"]
    assert points.k.tolist() == [3] * 4 + [6] * 4


def test_two_configurations_at_one_point_are_refused(tmp_path: Path) -> None:
    (tmp_path / "spec.toml").write_text(
        SPEC.replace("[3, 6]", "3").replace("count = 5", "count = 1")
        + SPEC[SPEC.index("[datasets") :].replace("mine", "other").replace("[3, 6]", "3")
    )
    sweep = load_sweep(str(tmp_path / "spec.toml"))
    create_cube(tmp_path / "cube.zarr", sweep.spec)
    with pytest.raises(
        InvalidInputError, match=r"mine noise_share=0 and other noise_share=0 would"
    ):
        curve_points(open_cube(tmp_path / "cube.zarr"))
    assert_refused(
        imwk("curves", tmp_path / "cube.zarr", "--config", "mine noise_share=0", "-o", tmp_path),
        "no such result yet",
    )


@pytest.mark.slow
def test_a_stopped_sweep_is_resumed_and_extended_by_one_more_share(
    folder: Path, tmp_path: Path
) -> None:
    cube, whole = tmp_path / "cube.zarr", tmp_path / "whole.zarr"
    copytree(folder / "cube.zarr", cube)
    tiles = read_ledger(cube).done
    mark_missing(cube, list(tiles)[::3])  # as if the sweep had been stopped
    resumed = submit(folder / "spec.toml", cube, workers=0)
    assert resumed.done == 40
    output_of("extend", cube, folder / "larger.toml", "--workers", 1)
    submit(folder / "larger.toml", whole, workers=0)
    xr.testing.assert_identical(comparable(open_cube(cube)), comparable(open_cube(whole)))
    assert open_cube(cube).noise_share.values.tolist() == [*SHARES, 1] * 2
    first = open_cube(folder / "cube.zarr")
    same = open_cube(cube).sel(config=first.config).rescaled_kmeans_ari
    np.testing.assert_array_equal(same.values, first.rescaled_kmeans_ari.values)
