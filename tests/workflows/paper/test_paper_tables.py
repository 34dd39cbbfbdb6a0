import csv
import math
from collections import Counter
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from click.testing import Result
from numpy.typing import NDArray

from storage import create_cube, open_cube
from tests.shared_data import read_rows
from tests.storage.grids import cube_of
from tests.storage.made_up import fill, small_spec
from tests.workflows.commands import imwk
from workflows.cli.results import TABLE_FORMATS
from workflows.paper.comparison import Row, Verdict, closing_line, compare_with_paper
from workflows.paper.formats import TEXT_FORMATS, sections
from workflows.paper.published import PAPER_TABLES, published_values

CONFIGS = ("1000x6-3", "1000x12-6")


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube of three data sets, of which the second configuration has two."""
    location = tmp_path_factory.mktemp("tables") / "cube.zarr"
    spec = small_spec(count=3)
    create_cube(location, spec)
    fill(location, [t for t in spec.tiles if t.config == CONFIGS[0] or t.dataset < 2])
    return location


def row_of(rows: list[Row], table: str, config: str, algorithm: str, normalisation: str) -> Row:
    wanted = (table, config, algorithm, normalisation)
    (found,) = [
        row
        for row in rows
        if wanted
        == (
            row.published.table.name,
            row.published.config,
            row.published.algorithm,
            row.published.normalisation,
        )
    ]
    return found


def iris(runs: NDArray[np.float64], grid: NDArray[np.float64]) -> xr.Dataset:
    """Return a cube of one real data set in a cube with room for two."""
    empty = np.full_like(grid, np.nan)
    return cube_of(
        {
            "kmeans_ari": np.stack([runs, np.full_like(runs, np.nan)])[None, :, None],
            "rescaled_imwk_ari": np.stack([grid, empty])[None, :, None],
        },
        configs=["Iris"],
        p1=[1.1, 1.4],
        p2=[1.5, 3.0],
        restart=np.arange(len(runs)),
    )


def test_there_are_456_published_values() -> None:
    sizes = {name: len(published_values(name)) for name in PAPER_TABLES}
    assert list(sizes.values()) == [48, 72, 96, 144, 96]
    places = Counter(
        (value.table.name, value.config, value.normalisation, value.algorithm)
        for name in PAPER_TABLES
        for value in published_values(name)
    )
    assert len(places) == sum(sizes.values()) == 456


def test_published_values_are_those_that_the_paper_prints(shared: Path) -> None:
    for name in PAPER_TABLES:
        printed = read_rows(shared / "paper" / f"{name}.csv")
        assert [value.mean for value in published_values(name)] == [
            float(row["ari_mean"]) for row in printed
        ]
        assert [value.config for value in published_values(name)] == [
            next(iter(row.values())) for row in printed
        ]


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("normalisation", ["range", "z-score"])
def test_means_equal_those_of_plain_numpy(location: Path, config: str, normalisation: str) -> None:
    rows, cube = compare_with_paper(open_cube(location)), open_cube(location)
    count = 3 if config == CONFIGS[0] else 2
    here = cube.sel(config=config, normalisation=normalisation).isel(dataset=slice(count)).load()
    kmeans = here.kmeans_ari.values.mean(axis=1)
    rescaled = here.rescaled_kmeans_ari.values.mean(axis=2)
    plain, grid = here.imwk_ari.values, here.rescaled_imwk_ari.values
    expected = {
        ("kmeans_plus_plus_synthetic", "kmeans++"): kmeans,
        ("best_exponents_synthetic", "kmeans++"): kmeans,
        ("best_exponents_synthetic", "rescaled-kmeans++"): rescaled.max(axis=1),
        ("best_exponents_synthetic", "imwk"): plain.max(axis=1),
        ("best_exponents_synthetic", "rescaled-imwk"): grid.max(axis=(1, 2)),
        ("best_average_exponents_synthetic", "rescaled-kmeans++"): rescaled[
            :, rescaled.mean(axis=0).argmax()
        ],
        ("best_average_exponents_synthetic", "imwk"): plain[:, plain.mean(axis=0).argmax()],
    }
    for (table, algorithm), values in expected.items():
        found = row_of(rows, table, config, algorithm, normalisation).found
        assert found is not None
        assert found.mean == pytest.approx(values.mean()), (table, algorithm)
        assert found.spread == pytest.approx(values.std(ddof=1))
        assert (found.datasets, found.sample) == (count, count)


def test_the_best_average_comes_with_its_exponents(location: Path) -> None:
    cube = open_cube(location)
    rows = compare_with_paper(cube)
    table = "best_average_exponents_synthetic"
    found = row_of(rows, table, CONFIGS[0], "rescaled-imwk", "range").found
    means = cube.rescaled_imwk_ari.sel(config=CONFIGS[0], normalisation="range").values.mean(axis=0)
    p1, p2 = np.unravel_index(means.argmax(), means.shape)
    assert found is not None
    assert (found.p1, found.p2) == (cube.p1.values[p1], cube.p2.values[p2])
    assert found.mean == pytest.approx(means.max())


def pooled(theirs: float, n: int, ours: float, size: int) -> float:
    """Return the standard error of a difference of means by the textbook formula."""
    variance = ((n - 1) * theirs**2 + (size - 1) * ours**2) / (n + size - 2)
    return math.sqrt(variance * (1 / n + 1 / size))


def test_the_standard_error_is_of_both_means_with_a_common_spread() -> None:
    runs = np.array([0.40, 0.50, 0.60])[None, :, None, None]  # one restart each, spread 0.1
    rows = compare_with_paper(cube_of({"kmeans_ari": runs}, restart=[0]))
    row = row_of(rows, "best_exponents_synthetic", "1000x6-3", "kmeans++", "range")
    assert row.difference == pytest.approx(0.5 - 0.5198)
    rounding = 0.0001 / math.sqrt(12)
    assert row.standard_error == pytest.approx(math.hypot(pooled(0.224, 50, 0.1, 3), rounding))
    assert row.verdict == Verdict.WITHIN


def test_the_verdict_changes_at_two_standard_errors() -> None:
    def verdict(mean: float) -> Verdict:
        runs = np.array([mean - 0.1, mean, mean + 0.1])[None, :, None, None]
        rows = compare_with_paper(cube_of({"kmeans_ari": runs}, restart=[0]))
        return row_of(rows, "kmeans_plus_plus_synthetic", "1000x6-3", "kmeans++", "range").verdict

    edge = 2 * pooled(0.22, 50, 0.1, 3)
    assert verdict(0.5198 + edge - 1e-4) == Verdict.WITHIN
    assert verdict(0.5198 + edge + 1e-4) == Verdict.OUTSIDE
    assert verdict(0.5198 - edge - 1e-4) == Verdict.OUTSIDE


def test_one_data_set_is_compared_by_the_published_spread() -> None:
    rows = compare_with_paper(cube_of({"kmeans_ari": [[[[0.3, 0.5]]]]}, restart=[0, 1]))
    row = row_of(rows, "best_exponents_synthetic", "1000x6-3", "kmeans++", "range")
    assert row.found is not None
    assert (row.found.datasets, math.isnan(row.found.spread)) == (1, True)
    assert row.standard_error == pytest.approx(0.224 * math.sqrt(1 / 50 + 1), rel=1e-6)


#: Two data sets of rescaled k-means++ at p1 = 1.1 and 1.4, two restarts each. The means over
#: restarts are 0.3 and 0.6 on the first data set, 0.9 and 0.7 on the second, so the means over data
#: sets are 0.6 and 0.65, and the second p1 is best on average though it is not the
#: best of the second data set.
RESTARTS = [[[0.2, 0.4], [0.5, 0.7]], [[0.8, 1.0], [0.3, 1.1]]]


AVERAGES = [
    Row(value, None)
    for value in published_values("best_average_exponents_synthetic")
    if (value.config, value.normalisation) == ("1000x6-3", "range") and value.p1
]


def rescaled_kmeans_on_average() -> Row:
    runs = np.array(RESTARTS)[None, :, None]
    cube = cube_of({"rescaled_kmeans_ari": runs}, p1=[1.1, 1.4], restart=[0, 1])
    table = "best_average_exponents_synthetic"
    return row_of(compare_with_paper(cube), table, "1000x6-3", "rescaled-kmeans++", "range")


def test_rescaled_kmeans_on_average_is_at_its_one_best_exponent() -> None:
    found = rescaled_kmeans_on_average().found
    assert found is not None
    assert (found.p1, math.isnan(found.p2)) == (1.4, True)
    assert found.mean == pytest.approx(0.65)
    assert (found.datasets, found.sample) == (2, 2)


def test_the_spread_of_restarts_is_averaged_over_data_sets() -> None:
    found = rescaled_kmeans_on_average().found
    assert found is not None
    # at p1 = 1.4 two restarts differ by 0.2 on the first data set, and by 0.8 on the second
    assert found.restart_spread == pytest.approx((0.2 + 0.8) / 2 / math.sqrt(2))


def test_rescaled_kmeans_on_average_is_compared_by_the_spread_of_data_sets() -> None:
    row = rescaled_kmeans_on_average()
    assert (row.published.std, row.published.std_over) == (0.041, "restart")
    # 0.218 is printed for the best exponents of each data set; ours are 0.6 and 0.7
    of_datasets = pooled(0.218, 50, 0.1 / math.sqrt(2), 2)
    assert row.standard_error == pytest.approx(of_datasets, rel=1e-6)


def test_tables_show_the_exponent_that_the_paper_leaves_out() -> None:
    (section,) = sections([rescaled_kmeans_on_average(), *AVERAGES])
    cells = dict(zip(section.header, section.rows[0], strict=True))
    assert (cells["their p1, p2"], cells["our p1, p2"]) == ("", "1.4")
    assert cells["difference"] == "+0.1159"  # 0.65 - 0.5341


def test_only_one_column_has_standard_deviations_over_other_things_than_its_table() -> None:
    values = [value for name in PAPER_TABLES for value in published_values(name)]
    odd = [value for value in values if value.std_over != value.table.over]
    assert {(value.table.name, value.algorithm) for value in odd} == {
        ("best_average_exponents_synthetic", "rescaled-kmeans++")
    }
    assert len(odd) == 24  # each configuration, with range and z-score


def test_real_data_are_compared_by_their_restarts() -> None:
    runs = np.array([0.6, 0.7, 0.8, 0.6])
    rows = compare_with_paper(iris(runs, np.full((2, 2), 0.922)))
    row = row_of(rows, "kmeans_plus_plus_real", "Iris", "kmeans++", "range")
    assert row.found is not None
    assert row.found.mean == pytest.approx(0.675)
    assert (row.found.sample, row.found.datasets) == (4, 1)
    rounding = 0.001 / math.sqrt(12)
    assert row.standard_error == pytest.approx(
        math.hypot(pooled(0.09, 100, runs.std(ddof=1), 4), rounding)
    )


@pytest.mark.parametrize(
    ("best", "verdict"),
    [(0.9224, Verdict.WITHIN), (0.9216, Verdict.WITHIN), (0.9235, Verdict.OUTSIDE)],
)
def test_deterministic_results_agree_if_they_round_to_the_printed_one(
    best: float, verdict: Verdict
) -> None:
    rows = compare_with_paper(iris(np.array([0.6, 0.7]), np.array([[0.1, best], [0.2, 0.3]])))
    row = row_of(rows, "best_exponents_real", "Iris", "rescaled-imwk", "range")
    assert row.published.mean == 0.922
    assert row.verdict == verdict


def test_values_that_the_cube_lacks_are_absent(location: Path, tmp_path: Path) -> None:
    rows = compare_with_paper(open_cube(location))
    covered = {row.published.config for row in rows if row.found}
    assert covered == set(CONFIGS)
    # k-means++ 2 configs x 2 normalisations, and 4 algorithms of each in two more tables
    assert closing_line(rows).startswith("This cube covers 36 of the 456 published values; ")
    create_cube(tmp_path / "cube.zarr", small_spec(parts=["imwk"], restarts=0, count=1))
    fill(tmp_path / "cube.zarr")
    only = compare_with_paper(open_cube(tmp_path / "cube.zarr"))
    assert {row.published.algorithm for row in only if row.found} == {"imwk"}


def test_an_empty_cube_covers_nothing(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    rows = compare_with_paper(open_cube(tmp_path / "cube.zarr"))
    assert {row.verdict for row in rows} == {Verdict.ABSENT}


def run(location: Path, style: str) -> Result:
    result = imwk("tables", location, "--format", style, COLUMNS="160")
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.parametrize("style", ["terminal", "markdown", "latex"])
def test_every_format_shows_all_covered_values_and_ends_with_the_count(
    location: Path, style: str
) -> None:
    rows = compare_with_paper(open_cube(location))
    lines = run(location, style).stdout.rstrip("\n").splitlines()
    assert lines[-1].strip() == closing_line(rows)
    judged = sum("within 2 SE" in line or "outside" in line for line in lines[:-1])
    assert judged == 36
    assert sum("none of its" in line for line in lines) == 2 + 4 + 2
    best = row_of(rows, "best_exponents_synthetic", CONFIGS[0], "rescaled-imwk", "range")
    assert best.found is not None
    shown = [line for line in lines if "rescaled imwk-means" in line and CONFIGS[0] in line]
    assert any(f"{best.found.mean:.4f}" in line and "0.6474" in line for line in shown)


def test_csv_has_a_row_for_every_published_value(location: Path) -> None:
    result = run(location, "csv")
    written = list(csv.DictReader(StringIO(result.stdout)))
    rows = compare_with_paper(open_cube(location))
    assert [row["verdict"] for row in written] == [str(row.verdict) for row in rows]
    for record, row in zip(written, rows, strict=True):
        assert float(record["published_mean"]) == row.published.mean
        found = float(record["mean"]) if record["mean"] else None
        assert found == (row.found.mean if row.found else None)
        of_restarts = row.found.restart_spread if row.found else math.nan
        assert float(record["restart_spread"] or "nan") == pytest.approx(of_restarts, nan_ok=True)
        assert bool(record["restart_spread"]) == (
            row.found is not None and row.published.std_over != row.published.table.over
        )
    assert result.stderr.strip() == closing_line(rows)


def test_every_latex_environment_is_closed(location: Path) -> None:
    text = run(location, "latex").stdout
    for name in ("table", "tabular"):
        assert text.count(f"\\begin{{{name}}}") == text.count(f"\\end{{{name}}}") == 6
    rows = [line for line in text.splitlines() if line.endswith(r"\\")]
    assert {line.count("&") for line in rows} == {7, 9}


def test_a_narrow_terminal_does_not_cut_numbers(location: Path) -> None:
    result = imwk("tables", location, COLUMNS="40")
    assert "…" not in result.output
    best = row_of(
        compare_with_paper(open_cube(location)),
        *("best_average_exponents_synthetic", CONFIGS[0], "rescaled-imwk", "range"),
    )
    assert best.found is not None
    assert f"{best.found.mean:.4f}" in result.output


def test_the_command_offers_every_format() -> None:
    assert ["terminal", *TEXT_FORMATS] == TABLE_FORMATS
