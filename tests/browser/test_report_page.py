import io
import re
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Page, expect

from storage import create_cube, open_cube
from storage.tiles import mark_failed
from tests.browser.conftest import OpenPage
from tests.reports import HOSTILE, named_page
from tests.storage.made_up import fill, small_spec
from workflows.report import write_report
from workflows.report.figure_data import figure_data

pytestmark = pytest.mark.slow

P1, P2 = (1.1, 1.4, 2.0), (1.5, 3.0)
CELLS = [(first, second) for first in range(len(P1)) for second in range(len(P2))]
WHITE = (255, 255, 255)
#: The number of screenshots before a figure counts as wrong.
PATIENCE = 50


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube whose second configuration has one of its two data sets."""
    location, spec = tmp_path_factory.mktemp("page") / "cube.zarr", small_spec()
    create_cube(location, spec)
    left_out = [tile for tile in spec.tiles if tile.config == "1000x12-6" and tile.dataset == 1]
    fill(location, [tile for tile in spec.tiles if tile not in left_out])
    for tile in left_out:
        mark_failed(location, tile, "made to fail <b>")
    return location


@pytest.fixture(scope="module")
def report(location: Path) -> Path:
    path = location.with_name("report.html")
    write_report(location, path)
    return path


@pytest.fixture(scope="module")
def cube(location: Path) -> xr.Dataset:
    return open_cube(location).load()


def ready(page: Page) -> None:
    expect(page.locator("#picture")).to_have_attribute("aria-busy", "false", timeout=60_000)


def choose(page: Page, **choice: str) -> None:
    for name, label in choice.items():
        page.select_option(f"#{name}", label=label)
        ready(page)


def middle_of(page: Page, first: float, second: float) -> tuple[float, float]:
    """Return where in the window a cell of the heatmap lies, by its place in the grid."""
    x, y = page.evaluate(
        """([first, second]) => {
            const view = Bokeh.index.get_one(modelNamed("heatmap"));
            const box = view.el.getBoundingClientRect();
            const { x_scale, y_scale } = view.frame;
            return [box.x + x_scale.compute(first), box.y + y_scale.compute(second)];
        }""",
        [first, second],
    )
    return x, y


def expect_white(page: Page, wanted: set[tuple[int, int]]) -> None:
    """Wait until exactly these cells of the figure are white on the screen."""
    # Not the middle, where the best pair has its star
    places = {cell: middle_of(page, cell[0] + 0.15, cell[1] + 0.15) for cell in CELLS}
    for _ in range(PATIENCE):
        image = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
        white = {
            cell for cell, (x, y) in places.items() if image.getpixel((int(x), int(y))) == WHITE
        }
        if white == wanted:
            return
        page.wait_for_timeout(100)  # Bokeh paints with one of the next frames
    assert white == wanted


def not_above(grid: NDArray[Any], threshold: float) -> set[tuple[int, int]]:
    return {cell for cell in CELLS if not grid[cell] > threshold}


def hover_text(page: Page, first: int, second: int) -> str:
    page.mouse.move(*middle_of(page, first + 0.7, second + 0.7))
    tip = page.locator(".bk-tooltip-content")
    expect(tip).to_contain_text(f"p1 = {P1[first]:g}, p2 = {P2[second]:g}")
    return str(tip.text_content())


def first_number(text: str) -> float:
    found = re.search(r"-?\d+\.\d{3}", text)
    assert found, text
    return float(found.group())


def test_hover_shows_the_means_of_the_cube(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range")
    means = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="range").mean("dataset")
    for first, second in CELLS:
        text = hover_text(page, first, second)
        assert first_number(text) == pytest.approx(float(means[first, second]), abs=0.00051)
        assert "mean of 2 data sets" in text


def test_hover_shows_a_single_data_set(open_page: OpenPage, report: Path, cube: xr.Dataset) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="z-score", dataset="data set 1")
    grid = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="z-score", dataset=1).values
    for first, second in CELLS:
        text = hover_text(page, first, second)
        assert f"{grid[first, second]:.3f}" in text
        assert "data set 1" in text


def test_means_show_the_number_of_data_sets(open_page: OpenPage, report: Path) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x12-6")
    options = page.locator("#dataset option").all_inner_texts()
    assert options == ["mean of 1 data set", "data set 0"]


def test_cells_that_do_not_beat_kmeans_are_white(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    seen = set()
    for normalisation in ("range", "z-score"):
        choose(page, config="1000x6-3", normalisation=normalisation)
        part = cube.sel(config="1000x6-3", normalisation=normalisation)
        expected = float(part.kmeans_ari.mean())
        white = not_above(part.rescaled_imwk_ari.mean("dataset").values, expected)
        expect_white(page, white)
        assert f"Above {expected:.3f}: {6 - len(white)} of 6 pairs" in facts(page)
        seen.add(len(white))
    assert seen != {0}


def facts(page: Page) -> str:
    return str(page.locator("#facts").inner_text())


def test_cells_below_the_slider_are_white(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range", dataset="data set 0")
    grid = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="range", dataset=0).values
    slider = page.locator("#threshold")
    slider.focus()
    page.keyboard.press("Home")
    expect_white(page, set())
    page.keyboard.press("End")
    expect_white(page, set(CELLS))
    middle = round(float(np.median(grid)), 3)
    slider.fill(str(middle))
    expect_white(page, not_above(grid, middle))
    expect(page.locator("#threshold-value")).to_have_text(f"{middle:.3f}")
    page.locator("#reset").click()
    runs = cube.kmeans_ari.sel(config="1000x6-3", normalisation="range", dataset=0)
    expect_white(page, not_above(grid, float(runs.mean())))


def test_every_choice_changes_the_figure(open_page: OpenPage, report: Path) -> None:
    page = open_page(report)
    ready(page)
    shots = [page.locator("#picture").screenshot()]
    for name, label in (
        ("normalisation", "range"),
        ("dataset", "data set 1"),
        ("config", "1000x12-6"),
        ("result", "rescaled_imwk_clusters"),
        ("result", "imwk_ari"),
        ("result", "rescaled_kmeans_ari"),
    ):
        choose(page, **{name: label})
        page.wait_for_timeout(300)
        shots.append(page.locator("#picture").screenshot())
    assert len(set(shots)) == len(shots)


def test_the_best_pair_is_marked_and_named(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range")
    means = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="range").mean("dataset")
    first, second = np.unravel_index(int(means.values.argmax()), means.shape)
    p1, p2 = float(cube.p1[first]), float(cube.p2[second])
    assert f"{float(means.max()):.3f} at p1 = {p1:g}, p2 = {p2:g}." in facts(page)
    marked = page.evaluate("[modelNamed('heatmap best').data].map(({x, y}) => [x[0], y[0]])[0]")
    assert marked == [first + 0.5, second + 0.5]


def test_curves_show_results_of_one_exponent(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range", result="rescaled_kmeans_ari")
    means = cube.rescaled_kmeans_ari.sel(config="1000x6-3", normalisation="range")
    means = means.mean(["restart", "dataset"])
    expect(page.locator("#heatmap")).to_be_hidden()
    page.locator("#picture").focus()
    page.keyboard.press("Home")
    for _ in range(2):
        page.keyboard.press("ArrowLeft")
    for place in range(3):
        text = page.locator("#readout").inner_text()
        assert text.startswith(f"p1 = {float(cube.p1[place]):g}: ")
        assert first_number(text) == pytest.approx(float(means[place]), abs=0.00051)
        page.keyboard.press("ArrowRight")


def test_the_keyboard_reaches_and_changes_everything(open_page: OpenPage, report: Path) -> None:
    page = open_page(report)
    ready(page)
    keys = {
        "config": ("ArrowDown", "#facts"),
        "normalisation": ("ArrowDown", "#facts"),
        "result": ("ArrowDown", "#about"),
        "dataset": ("ArrowDown", "#readout"),
        "picture": ("ArrowLeft", "#readout"),
        "reset": ("Enter", "#threshold-value"),
        "threshold": ("ArrowLeft", "#threshold-value"),
    }
    reached: list[str] = []
    while len(reached) < len(keys):
        page.keyboard.press("Tab")
        name = page.evaluate("document.activeElement.id")
        assert len(reached) == 0 or name in keys, f"{name} lies between the controls"
        if name not in keys:
            continue
        reached.append(name)
        key, shows = keys[name]
        before = page.locator(shows).inner_text()
        page.keyboard.press(key)
        if name != "reset":  # it has no effect yet
            expect(page.locator(shows)).not_to_have_text(before)
        ready(page)
    assert reached == list(keys)


def test_arrow_keys_move_from_cell_to_cell(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range", dataset="data set 0")
    grid = cube.rescaled_imwk_ari.sel(config="1000x6-3", normalisation="range", dataset=0).values
    page.locator("#picture").focus()
    for key in ["ArrowLeft"] * 3 + ["ArrowDown"] * 2:
        page.keyboard.press(key)
    readout = page.locator("#readout")
    expect(readout).to_contain_text(f"p1 = 1.1, p2 = 1.5: {grid[0, 0]:.3f}, data set 0")
    page.keyboard.press("ArrowUp")
    expect(readout).to_contain_text(f"p1 = 1.1, p2 = 3: {grid[0, 1]:.3f}")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text(f"p1 = 1.4, p2 = 3: {grid[1, 1]:.3f}")


def test_a_click_reads_a_cell_and_a_click_on_a_row_selects_it(
    open_page: OpenPage, report: Path, cube: xr.Dataset
) -> None:
    page = open_page(report)
    ready(page)
    choose(page, config="1000x6-3", normalisation="range")
    hover_text(page, 2, 0)
    page.mouse.click(*middle_of(page, 2.7, 0.7))
    expect(page.locator("#readout")).to_contain_text("p1 = 2, p2 = 1.5: ")
    page.locator("#datasets tr").nth(1).click()
    ready(page)
    assert page.locator("#dataset option:checked").inner_text() == "data set 1"
    expected = float(
        cube.kmeans_ari.sel(config="1000x6-3", normalisation="range", dataset=1).mean()
    )
    assert f"Above {expected:.3f}" in facts(page)


OPEN_ALL = "document.querySelectorAll('details').forEach((each) => each.open = true)"


@pytest.mark.parametrize("width", [400, 1600])
def test_no_page_is_wider_than_its_window(open_page: OpenPage, report: Path, width: int) -> None:
    page = open_page(report, width=width)
    ready(page)
    page.evaluate(OPEN_ALL)
    for result in page.locator("#result option").all_inner_texts():
        choose(page, result=result)
        assert page.evaluate("document.documentElement.scrollWidth") == width


#: The lowest contrast of all texts on the page by WCAG's formula, and the text that has it.
CONTRAST = """() => {
    const channels = (colour) => colour.match(/[0-9.]+/g).map(Number);
    const luminance = ([r, g, b]) => {
        const [red, green, blue] = [r, g, b].map((v) => v / 255)
            .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const behind = (element) => {
        for (let at = element; at; at = at.parentElement) {
            const colour = channels(getComputedStyle(at).backgroundColor);
            if (colour.length === 3 || colour[3] === 1) return colour;
        }
        return [255, 255, 255];
    };
    let least = [Infinity, ""];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
        const both = [channels(getComputedStyle(element).color), behind(element)].map(luminance);
        const contrast = (Math.max(...both) + 0.05) / (Math.min(...both) + 0.05);
        if (contrast < least[0]) least = [contrast, walker.currentNode.data];
    }
    return least;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrasts_with_its_background(open_page: OpenPage, report: Path, scheme: str) -> None:
    page = open_page(report, scheme=scheme)
    ready(page)
    page.evaluate(OPEN_ALL)
    least, where = page.evaluate(CONTRAST)
    assert least >= 4.5, where
    back = page.evaluate("getComputedStyle(document.body).backgroundColor")
    brightness = sum(map(int, re.findall(r"\d+", back))) / 3
    assert (brightness < 64) == (scheme == "dark")
    axes = page.evaluate("modelNamed('heatmap').below[0].major_label_text_color")
    muted = page.evaluate("getComputedStyle(document.body).getPropertyValue('--muted')")
    assert axes == muted.strip()


def test_figures_follow_the_scheme(open_page: OpenPage, report: Path) -> None:
    page = open_page(report)
    ready(page)
    before = page.evaluate("modelNamed('heatmap').below[0].major_label_text_color")
    page.emulate_media(color_scheme="dark")
    page.wait_for_timeout(300)
    assert page.evaluate("modelNamed('heatmap').below[0].major_label_text_color") != before


@pytest.mark.parametrize("width", [400, 1600])
def test_hostile_names_are_only_shown(open_page: OpenPage, tmp_path: Path, width: int) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(named_page(HOSTILE), encoding="utf-8")
    page = open_page(path, width=width)
    ready(page)
    page.evaluate(OPEN_ALL)
    options = page.evaluate("Array.from(config.options, (each) => each.textContent)")
    assert options == list(HOSTILE)
    for place, name in enumerate(HOSTILE):
        page.select_option("#config", value=str(place))
        ready(page)
        current = page.locator("#configs tr[aria-current] th")
        assert current.text_content() == name
    assert page.evaluate("[typeof hacked, document.scripts.length]") == ["undefined", 3]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.title().startswith(HOSTILE[0])


@pytest.mark.parametrize(
    "changes",
    [
        {"parts": ["kmeans"]},
        {"parts": ["imwk"]},
        {"parts": ["rescaled_imwk"], "p1": [2.0], "p2": [2.0]},
        {"p1": [2.0]},
        {"restarts": 0},
        {"scores": ["silhouette"]},
    ],
    ids=str,
)
def test_cubes_of_some_parts_open(
    open_page: OpenPage, tmp_path: Path, changes: dict[str, Any]
) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec(**changes))
    fill(location)
    write_report(location, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    if changes.get("parts") == ["kmeans"]:
        expect(page.locator("#explore")).to_contain_text("nothing that depends on exponents")
        return
    ready(page)
    has_kmeans = "kmeans" in changes.get("parts", ["kmeans"]) and changes.get("restarts") != 0
    for result in page.locator("#result option").all_inner_texts():
        choose(page, result=result)
        is_held = has_kmeans and result.endswith("_ari")
        assert page.locator("#reset").is_visible() == is_held
        assert page.locator("#beside th:text('k-means++')").first.is_visible() == is_held
        assert ("Above" in facts(page)) == is_held


def test_single_data_sets_that_do_not_fit_are_left_out(
    open_page: OpenPage, location: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("workflows.report.page.figure_data", partial(figure_data, room=0))
    write_report(location, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    ready(page)
    last = page.locator("#dataset option").last
    expect(last).to_contain_text("left out")
    expect(last).to_be_disabled()
    page.locator("#datasets tr").first.click()  # it has a best result, but no figure
    assert page.locator("#dataset option:checked").inner_text() == "mean of 2 data sets"


def test_a_choice_without_results_shows_a_message(open_page: OpenPage, tmp_path: Path) -> None:
    location, spec = tmp_path / "cube.zarr", small_spec()
    create_cube(location, spec)
    fill(location, [tile for tile in spec.tiles if tile.config == "1000x12-6"])
    write_report(location, tmp_path / "report.html")
    page = open_page(tmp_path / "report.html")
    expect(page.locator("#nothing")).to_be_visible()
    expect(page.locator("#picture")).to_be_hidden()
    choose(page, config="1000x12-6")
    expect(page.locator("#nothing")).to_be_hidden()
    hover_text(page, 1, 1)
