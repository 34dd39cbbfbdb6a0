"""Curves of tables, which have no noise, and of clusterers."""

from pathlib import Path
from typing import Any

import pytest

from pipeline import Sweep
from storage import open_cube
from tests.own_tables import small_table
from tests.workflows.commands import assert_refused, imwk, output_of
from workflows import curve_points, submit
from workflows.plots.curves import draw_curves

KEYS: dict[str, Any] = {"p1": [2], "p2": [2], "restarts": 2, "normalisations": ["range"]}


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compute the sweep of a table with two numbers of clusters, with Ward's method."""
    location = tmp_path_factory.mktemp("curves") / "cube.zarr"
    sweep = Sweep.of({"mine": small_table()}, k=[2, 3], clusterers=["ward"], **KEYS)
    submit(sweep, location, workers=0)
    return location


def test_tables_without_noise_are_one_curve(cube: Path, tmp_path: Path) -> None:
    points = curve_points(open_cube(cube), over="k")
    assert points.columns[:3].tolist() == ["normalisation", "k", "algorithm"]
    ((_, figure),) = draw_curves(points, "k")
    assert [axes.get_title() for axes in figure.axes] == ["1 data set"]
    output_of("curves", cube, "--over", "k", "-o", tmp_path)
    assert (tmp_path / "curves-k-range.png").exists()


def test_tables_with_the_same_numbers_are_refused(tmp_path: Path) -> None:
    sweep = Sweep.of({"one": small_table(), "two": small_table(1)}, **KEYS)
    submit(sweep, tmp_path / "cube.zarr", workers=0)
    refused = imwk("curves", tmp_path / "cube.zarr", "--over", "k")
    assert_refused(refused, "one and two would be one point (k = 3). Select one of them.")


def test_clusterers_are_drawn_beside_the_papers_algorithms(cube: Path) -> None:
    points = curve_points(open_cube(cube), over="k")
    assert points["algorithm"].unique().tolist()[-2:] == ["ward", "rescaled ward"]
    opened = open_cube(cube).load()
    of_ward = points[points["algorithm"] == "rescaled ward"]["mean_ari"].tolist()
    assert of_ward == pytest.approx(opened.rescaled_ward_ari.values.ravel().tolist())
    ((_, figure),) = draw_curves(points, "k")
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()][-2:] == ["ward", "rescaled ward"]


def test_legend_and_title_are_inside_the_figure(cube: Path) -> None:
    ((_, figure),) = draw_curves(curve_points(open_cube(cube), over="k"), "k")
    figure.canvas.draw()
    (legend,) = figure.legends
    (axes,) = figure.axes
    for drawn in (legend, *figure.texts):
        box = drawn.get_window_extent()
        assert box.x0 >= 0
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.width
    assert legend.get_window_extent().y1 <= axes.xaxis.label.get_window_extent().y0
