"""The commands that draw: the files that they write, and the mistakes that they refuse."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from storage import create_cube, open_cube
from storage.tiles import mark_failed
from tests.own_tables import small_table, written
from tests.pipeline.datasets.uci_files import balance_scale
from tests.storage.disks import small_disk
from tests.storage.made_up import fill, small_spec
from tests.workflows.commands import assert_refused, imwk
from tests.workflows.plots.pixels import look, pixels_of
from workflows.plots.heatmaps import draw_heatmaps, mean_grids

FILES = ["rescaled_imwk_ari-z-score", "rescaled_imwk_ari-range"]
FORMATS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a cube with a failed and a missing tile."""
    location, spec = tmp_path_factory.mktemp("pictures") / "cube.zarr", small_spec()
    create_cube(location, spec)
    fill(location, spec.tiles[2:])
    mark_failed(location, spec.tiles[0], "made to fail")
    return location


def test_the_files_show_what_numpy_computes(location: Path, tmp_path: Path) -> None:
    folder = tmp_path / "made" / "when missing"
    result = imwk("heatmaps", location, "-o", folder)
    assert result.output.splitlines() == [str(folder / f"{name}.png") for name in FILES]
    assert sorted(path.stem for path in folder.iterdir()) == sorted(FILES)
    cube = open_cube(location).load()
    for normalisation, figure in draw_heatmaps(mean_grids(cube).compute()):
        written = (folder / f"rescaled_imwk_ari-{normalisation}.png").read_bytes()
        pixels = pixels_of(written)
        for config, axes in zip(cube.config.values, figure.axes, strict=False):
            tiles = cube.sel(config=config, normalisation=normalisation)
            there = tiles.status.values == 1
            means = tiles.rescaled_imwk_ari.values[there].mean(axis=0)
            expected = tiles.kmeans_ari.values[there].mean()
            for place in np.ndindex(*means.shape):
                must = "coloured" if means[place] > expected else "white"
                assert look(pixels, axes, *place) == must


def test_configurations_and_normalisations_can_be_selected(location: Path, tmp_path: Path) -> None:
    chosen = ("--config", "1000x12-6", "--normalisation", "range", "--normalisation", "range")
    rounds = ("--variable", "rescaled_imwk_iterations")
    result = imwk("heatmaps", location, "-o", tmp_path, *chosen, *rounds)
    assert result.output == f"{tmp_path / 'rescaled_imwk_iterations-range.png'}\n"
    with Image.open(tmp_path / "rescaled_imwk_iterations-range.png") as one:
        assert one.width < 900


def test_a_cube_without_results_gives_a_hatched_figure(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    cube = open_cube(tmp_path / "cube.zarr").sel(normalisation=["range"])
    ((_, figure),) = draw_heatmaps(mean_grids(cube).compute())
    assert look(pixels_of(figure), figure.axes[0], 1, 1) == "hatched"
    assert figure.axes[0].get_title() == "1000x6-3\n0 of 2 data sets"


#: A program for another process, whose settings differ in everything that must not matter.
AGAIN = """
import json, sys
from workflows.cli.main import main
for command in json.loads(sys.argv[1]):
    main(command, standalone_mode=False)
assert "matplotlib.pyplot" not in sys.modules
"""


def drawing(location: Path, folder: Path) -> list[list[str]]:
    """Return the commands that draw figures in all formats."""
    heatmap = ["heatmaps", str(location), "--config", "1000x6-3", "--normalisation", "range"]
    heatmaps = [[*heatmap, "-o", str(folder), "--format", style] for style in FORMATS]
    return [*heatmaps, ["scatter", "1000x6-3", "-o", str(folder / "scatter.svg")]]


def test_figures_drawn_again_have_the_same_bytes(location: Path, tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    for command in drawing(location, here):
        assert imwk(*command).exit_code == 0
    settings = tmp_path / "matplotlibrc"
    settings.write_text("font.size: 20\nsavefig.dpi: 30\nimage.cmap: jet\nsavefig.bbox: tight\n")
    subprocess.run(
        [sys.executable, "-c", AGAIN, json.dumps(drawing(location, there))],
        check=True,
        capture_output=True,
        env={
            **os.environ,
            "MATPLOTLIBRC": str(settings),
            "PYTHONHASHSEED": "7",
            "SOURCE_DATE_EPOCH": "1",
            "OPENBLAS_NUM_THREADS": "2",
        },
    )
    names = sorted(path.name for path in here.iterdir())
    assert len(names) == 4
    assert names == sorted(path.name for path in there.iterdir())
    for name in names:
        content = (here / name).read_bytes()
        assert content == (there / name).read_bytes(), name
        assert content.startswith(FORMATS[name[-3:]])
        for told in (b"atplotlib v", b"Software", b"CreationDate", b"<dc:date>"):
            assert told not in content, name


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--format", "gif"], "'gif' is not one of 'png', 'svg', 'pdf'"),
        (["--variable", "imwk_ari"], "imwk_ari does not depend on p1 and p2"),
        (["--variable", "kmeans_ari"], "rescaled_imwk_ari, rescaled_imwk_iterations"),
        (["--variable", "status"], "Unknown variable 'status'"),
        (["--variable", "rescaled_imwk_air"], "Did you mean 'rescaled_imwk_ari'?"),
        (["--config", "1000x66-3"], "Did you mean '1000x6-3'?"),
        (["--normalisation", "zscore"], "Did you mean 'z-score'?"),
    ],
)
def test_mistakes_are_named_and_leave_no_file(
    location: Path, tmp_path: Path, options: list[str], message: str
) -> None:
    assert_refused(imwk("heatmaps", location, "-o", tmp_path / "out", *options), message)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_written_is_an_error(location: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert_refused(imwk("heatmaps", location, "-o", tmp_path / "file"), "Cannot write ")
    assert_refused(imwk("scatter", "1000x6-3", "-o", tmp_path / "file" / "a.png"), "Cannot write")
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_full_disk_leaves_only_the_old_file(location: Path, tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "16k") as disk:
        (disk / f"{FILES[0]}.png").write_text("old")
        assert_refused(imwk("heatmaps", location, "-o", disk), "No space left")
        assert [path.name for path in disk.iterdir()] == [f"{FILES[0]}.png"]
        assert (disk / f"{FILES[0]}.png").read_text() == "old"


def test_damage_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    location, spec = tmp_path / "cube.zarr", small_spec(count=1)
    create_cube(location, spec)
    fill(location)
    chunk = next((location / "rescaled_imwk_ari").glob("c.1.*"))
    chunk.write_bytes(chunk.read_bytes()[:-3])
    assert_refused(imwk("heatmaps", location, "-o", tmp_path / "out"), "imwk verify CUBE --repair")
    assert not (tmp_path / "out").exists()
    assert_refused(imwk("heatmaps", tmp_path / "none", "-o", tmp_path / "out"), "There is no cube")


def test_scatter_writes_the_file(tmp_path: Path) -> None:
    options = ("--dataset", 3, "--seed", 1, "--normalisation", "z-score", "--p1", 2, "--k", 4)
    result = imwk("scatter", "1000x6-3 +3NF", "-o", tmp_path / "new" / "a.PNG", *options)
    assert result.output == f"{tmp_path / 'new' / 'a.PNG'}\n"
    assert pixels_of((tmp_path / "new" / "a.PNG").read_bytes()).shape[2] == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["-o", "a.gif"], "ends in .png, .svg or .pdf"),
        (["-o", "a"], "ends in .png, .svg or .pdf"),
        (["-o", "a.png", "--p1", "0.5"], "must be a finite number of at least 1, got 0.5"),
        (["-o", "a.png", "--p1", "nan"], "must be a finite number of at least 1, got nan"),
        (["-o", "a.png", "--k", "0"], "0 is not in the range"),
        (["-o", "a.png", "--k", "1001"], "k must be at most 1000"),
        (["-o", "a.png", "--dataset", "-1"], "index must be"),
        (["-o", "a.png", "--seed", "-1"], "seed"),
        (["-o", "a.png", "--normalisation", "rnage"], "Did you mean 'range'?"),
        (
            ["-o", "a.png", "--label", "class"],
            "label applies only to a file, and 1000x6-3 is not one. Leave it out. See --label.",
        ),
    ],
)
def test_mistakes_of_scatter_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert_refused(imwk("scatter", "1000x6-3", *options), message)
    assert_refused(imwk("scatter", "1000x6", "-o", "a.png"), "Did you mean '1000x6-3'?")
    assert not list(tmp_path.iterdir())


def test_scatter_draws_a_users_table(tmp_path: Path) -> None:
    table, out = written(small_table(), tmp_path / "my.csv"), tmp_path / "a.svg"
    assert imwk("scatter", table, "--label", "species", "-o", out).output == f"{out}\n"
    by_class = out.read_text()
    assert "my, range normalisation, p1 = 1.5" in by_class
    assert imwk("scatter", table, "--ignore", "species", "--k", 3, "-o", out).exit_code == 0
    assert out.read_text() != by_class
    asked = (
        ("--ignore", "species"),
        "Give k, or a table with a column of classes.",
    )
    seeded = (("--label", "species", "--seed", 1), "seed applies only to a synthetic configuration")
    for options, words in (asked, seeded):
        assert_refused(imwk("scatter", table, "-o", tmp_path / "b.svg", *options), words)
    assert_refused(imwk("scatter", "no.csv", "--k", 2, "-o", out), "cannot be read")


def test_scatter_draws_a_real_data_set_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IMWK_DATA", str(tmp_path / "cache"))
    out = tmp_path / "a.svg"
    assert_refused(imwk("scatter", "balance", "-o", out), "imwk datasets fetch")
    (tmp_path / "raw.data").write_bytes(balance_scale())
    imwk("datasets", "import", tmp_path)
    for name in ("balance", "Balance"):
        assert imwk("scatter", name, "-o", out).exit_code == 0
        assert "Balance, range normalisation" in out.read_text()
    assert_refused(imwk("scatter", "Balanse", "-o", out), "Did you mean 'Balance'?")
