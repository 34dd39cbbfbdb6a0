from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError
from storage.layout.schema import Status
from tests.storage.grids import cube_of
from tests.workflows.plots.pixels import look, luminance, patch_at, pixels_of
from workflows.plots.heatmaps import COLOURS, NOT_SCORED, _scale, draw_heatmaps, mean_grids
from workflows.plots.panels import Panels

GRID = "rescaled_imwk_ari"
P1, P2 = [1.1, 1.5, 3.0], [1.2, 2.0, 2.5, 4.0]


def with_status(cube: xr.Dataset, status: ArrayLike = Status.DONE) -> xr.Dataset:
    tiles = cube.isel({dim: 0 for dim in ("p1", "p2", "restart") if dim in cube.dims})
    return cube.assign(status=xr.full_like(tiles[next(iter(tiles))], 0, dtype=int) + status)


def one_panel(grid: ArrayLike, kmeans: float, **labels: Any) -> xr.Dataset:
    """Return a cube of one configuration, data set, normalisation and restart."""
    values = np.asarray(grid, dtype=float)
    labels = {"p1": P1[: len(values)], "p2": P2[: values.shape[1]], **labels}
    arrays = {GRID: values[None, None, None], "kmeans_ari": np.full((1, 1, 1, 1), kmeans)}
    return with_status(cube_of(arrays, restart=[0], **labels))


def partial_cube() -> xr.Dataset:
    """Return 2 configurations x 3 data sets x 2 normalisations: tiles, rows and cells missing."""
    rng = np.random.default_rng(5)
    grid = rng.uniform(0, 0.9, size=(2, 3, 2, 3, 4))
    kmeans = rng.uniform(0.3, 0.6, size=(2, 3, 2, 5))
    grid[0, 2], kmeans[0, 2] = np.nan, np.nan  # a data set that failed
    grid[1, :, 0, 1, 2] = np.nan  # a cell that no data set has
    grid[1, 1:, :, 2] = np.nan  # a row that only one data set has, as while a cube is extended,
    grid[1, 0, 0, 2], kmeans[1, 0, 0] = 0.2, 0.1  # and that beats only its own k-means++
    kmeans[1, 0, 1] = np.nan  # damaged: nothing to compare with
    cube = cube_of(
        {GRID: grid, "kmeans_ari": kmeans},
        configs=["1000x6-3", "1000x12-6"],
        p1=P1,
        p2=P2,
        restart=range(5),
    )
    return with_status(cube)


def figures(cube: xr.Dataset, variable: str = GRID) -> dict[str, Figure]:
    return dict(draw_heatmaps(mean_grids(cube, variable).compute()))


def titles(figure: Figure) -> list[str]:
    return [axes.get_title() for axes in figure.axes[:-1]]


def expected_cell(cells: NDArray[np.float64], kmeans: NDArray[np.float64]) -> tuple[str, float]:
    """Return how a cell must look, computed from its results by plain Python."""
    pairs = [
        (cell, sum(runs) / len(runs))
        for cell, runs in zip(cells.tolist(), kmeans.tolist(), strict=True)
        if not np.isnan(cell) and not np.isnan(runs).any()
    ]
    if not pairs:
        return "hatched", np.nan
    ours, theirs = (sum(column) / len(pairs) for column in zip(*pairs, strict=True))
    return ("coloured" if ours > theirs else "white"), ours


def test_exactly_the_right_cells_are_white_and_hatched() -> None:
    cube, seen, coloured = partial_cube(), [], []
    for normalisation, figure in figures(cube).items():
        pixels = pixels_of(figure)
        for config, axes in zip(cube.config.values, figure.axes, strict=False):
            tiles = cube.sel(config=config, normalisation=normalisation)
            for i, j in np.ndindex(3, 4):
                must, mean = expected_cell(tiles[GRID].values[:, i, j], tiles.kmeans_ari.values)
                assert look(pixels, axes, i, j) == must, (config, normalisation, i, j)
                for x, y in ((i - 0.35, j - 0.35), (i + 0.35, j + 0.35)):
                    assert look(pixels, axes, x, y) == must, (config, normalisation, x, y)
                seen.append(must)
                if must == "coloured":
                    coloured.append((mean, luminance(patch_at(pixels, axes, i, j)[0])))
    assert all(seen.count(kind) >= 2 for kind in ("white", "hatched", "coloured"))
    # All panels of all files have one scale, on which higher is lighter.
    light = [lightness for _, lightness in sorted(coloured)]
    assert np.diff(light).min() >= 0
    assert max(light) - min(light) > 0.3


def test_a_pair_as_good_as_kmeans_is_white() -> None:
    cube = one_panel([[0.5, 0.75], [0.25, np.nan]], kmeans=0.5)
    figure = figures(cube)["range"]
    pixels, axes = pixels_of(figure), figure.axes[0]
    looks = [[look(pixels, axes, i, j) for j in range(2)] for i in range(2)]
    assert looks == [["white", "coloured"], ["white", "hatched"]]


def test_p1_is_horizontal_and_p2_vertical() -> None:
    axes = figures(partial_cube())["range"].axes[1]
    for axis, exponents in ((axes.xaxis, P1), (axes.yaxis, P2)):
        assert [label.get_text() for label in axis.get_ticklabels()] == [
            f"{p:g}" for p in exponents
        ]
        assert axis.get_ticklocs().tolist() == list(range(len(exponents)))
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    assert left < right
    assert bottom < top
    assert axes.get_xlabel() == "$p_1$"
    assert figures(partial_cube())["range"].axes[0].get_ylabel() == "$p_2$"


@pytest.mark.parametrize(
    ("exponents", "labels"),
    [
        ([2.0], "2"),
        ([1.2, 1.5, 2.0, 3.0], "1.2 1.5 2 3"),
        (np.round(np.arange(11, 51) / 10, 1), "1.1 2 3 4 5"),
        (np.round(np.arange(19, 51) / 10, 1), "2 3 4 5"),
        (np.round(np.arange(11, 51, 2) / 10, 1), "1.1 1.7 2.3 2.9 3.5 4.1 4.7"),
    ],
    ids=["one", "quick", "paper", "near a whole number", "every second"],
)
def test_labels_of_exponents_can_be_read(exponents: Sequence[float], labels: str) -> None:
    grid = np.zeros((len(exponents), 1))
    axes = figures(one_panel(grid, 0.5, p1=list(exponents), p2=[2.0]))["range"].axes[0]
    assert " ".join(label.get_text() for label in axes.get_xticklabels()) == labels
    places = axes.get_xticks().astype(int)
    assert " ".join(f"{exponents[place]:g}" for place in places) == labels


def test_titles_show_the_number_of_data_sets() -> None:
    cube = partial_cube()
    drawn = figures(cube)
    assert titles(drawn["range"]) == [
        "1000x6-3\n2 of 3 data sets",
        "1000x12-6\n0 to 3 of 3 data sets",
    ]
    cube["status"][0, 1:] = (
        Status.NOT_PART
    )  # a cube with room for three data sets, and a sweep of one
    alone = cube.isel(config=[0]).where(cube.dataset == 0).assign(status=cube.status[:1])
    assert titles(figures(alone)["range"]) == ["1000x6-3\n1 data set"]


def test_the_lightest_colour_is_far_from_white_and_lightness_distinguishes_values() -> None:
    # Everyone sees lightness, with any colour vision and on grey paper.
    light = luminance(np.round(255 * COLOURS(np.linspace(0, 1, 256))[:, :3]).astype(np.int64))
    assert np.diff(light).min() > -1e-3
    assert (1 + 0.05) / (light.max() + 0.05) > 1.5
    assert light.max() - light.min() > 0.5


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=5))
def test_the_scale_covers_all_coloured_cells(values: list[float]) -> None:
    average = xr.DataArray(values)
    scale = _scale(xr.Dataset({"average": average, "beats": average > -2}))
    assert scale.vmin is not None
    assert scale.vmax is not None
    assert scale.vmin - 1e-9 <= min(values) <= max(values) <= scale.vmax + 1e-9
    assert scale.vmin < scale.vmax


def test_counts_are_not_compared_with_kmeans() -> None:
    cube = one_panel(np.full((2, 2), 0.5), kmeans=0.9)
    rounds = {
        "rescaled_imwk_iterations": np.full((1, 1, 1, 2, 2), 0.7)
    }  # below every ARI that is drawn
    cube = cube.merge(cube_of(rounds, p1=P1[:2], p2=P2[:2]))
    figure = figures(cube, "rescaled_imwk_iterations")["range"]
    pixels = pixels_of(figure)
    looks = {look(pixels, figure.axes[0], i, j) for i, j in np.ndindex(2, 2)}
    assert looks == {"coloured"}
    assert "not compared with k-means++" in figure.texts[1].get_text().replace("\n", " ")
    assert figure.legends[0].get_texts() == []


def test_scores_without_classes_are_not_compared_with_kmeans() -> None:
    cube = one_panel([[0.1, 0.3]], kmeans=0.9)
    arrays = {
        "rescaled_imwk_silhouette": cube[GRID].values,
        "kmeans_silhouette": np.full((1, 1, 1, 1), 0.2),
    }
    other = cube_of(arrays, p1=P1[:1], p2=P2[:2], restart=[0])
    figure = figures(cube.merge(other), "rescaled_imwk_silhouette")["range"]
    pixels, axes = pixels_of(figure), figure.axes[0]
    assert [look(pixels, axes, 0, j) for j in range(2)] == ["coloured", "coloured"]
    assert "not compared with k-means++" in figure.texts[1].get_text().replace("\n", " ")


def test_a_single_cluster_has_no_colour_and_does_not_change_the_scale() -> None:
    values = np.array([[-1.0, 0.5], [0.4, 0.6]])[None, None, None]  # -1 stands for no score
    grids = {"rescaled_imwk_silhouette": values}
    cube = with_status(cube_of(grids, p1=P1[:2], p2=P2[:2]))
    figure = figures(cube, "rescaled_imwk_silhouette")["range"]
    pixels, axes = pixels_of(figure), figure.axes[0]
    looks = [look(pixels, axes, *place) for place in np.ndindex(2, 2)]
    assert looks == ["white", "coloured", "coloured", "coloured"]
    assert figure.axes[-1].get_ylim() == pytest.approx((0.4, 0.6))
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [NOT_SCORED]


def test_where_lower_is_better_an_infinite_score_has_no_colour() -> None:
    values = np.array([[np.inf, 0.5], [0.4, np.nan]])[None, None, None]
    name = "rescaled_imwk_davies_bouldin"
    figure = figures(with_status(cube_of({name: values}, p1=P1[:2], p2=P2[:2])), name)["range"]
    pixels, axes = pixels_of(figure), figure.axes[0]
    looks = [look(pixels, axes, *place) for place in np.ndindex(2, 2)]
    assert looks == ["white", "coloured", "coloured", "hatched"]
    assert figure.axes[-1].get_ylim() == pytest.approx((0.4, 0.5))
    assert "(lower is better)" in figure.texts[1].get_text()


HOSTILE = [
    "$x^2$ $\\frac{$",
    "_hidden",
    "<script>alert(1)</script>",
    "100% & \"quotes\" 'n' #",
    "W" * 500,
    "数据",
    "line\nbreak\t\x00\u202e",
    "שלום",
    "\ud800",
]


def test_hostile_names_are_shown_literally_without_overlap() -> None:
    values = np.linspace(0, 1, len(HOSTILE)).reshape(-1, 1, 1, 1, 1)
    cube = with_status(cube_of({GRID: values}, configs=HOSTILE, p1=[2.0], p2=[2.0]))
    figure = figures(cube)["range"]
    pixels_of(figure)
    shown = [title.split("\n")[0] for title in titles(figure)]
    assert shown[:4] == HOSTILE[:4]
    assert shown[5] == "\\u6570\\u636e"
    assert shown[6] == "line\\nbreak\\t\\x00\\u202e"
    assert len(set(shown)) == len(HOSTILE)
    boxes = [axes.title.get_window_extent() for axes in figure.axes[:-1]]
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])
    width, height = figure.canvas.get_width_height()
    assert all(box.x0 >= 0 and box.x1 <= width and box.y1 <= height for box in boxes)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5, 12, 13, 18, 100])
def test_panels_do_not_overlap_and_lie_inside_the_figure(count: int) -> None:
    panels = Panels(count)
    places = [*map(panels.place, range(count)), panels.bar]
    boxes = [Bbox.from_bounds(*place) for place in places]
    assert all(min(box.p0) > 0 and max(box.p1) < 1 for box in boxes)
    assert not any(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])
    assert all(box.width * panels.width == pytest.approx(panels.side) for box in boxes[:-1])
    assert all(box.height * panels.height == pytest.approx(panels.side) for box in boxes[:-1])
    lowest = {round(box.x0, 6): number for number, box in enumerate(boxes[:-1])}
    assert [n for n in range(count) if panels.is_last(n)] == sorted(lowest.values())


def test_too_many_panels_are_refused() -> None:
    names = [f"name {i}" for i in range(101)]
    cube = cube_of({GRID: np.zeros((101, 1, 1, 1, 1))}, configs=names, p1=[2.0], p2=[2.0])
    with pytest.raises(InvalidInputError, match="Choose at most 100"):
        mean_grids(with_status(cube))
