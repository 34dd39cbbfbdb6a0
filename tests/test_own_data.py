"""A user's own data, from the file to the answers, serially and on Dask."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from distributed import Client

from pipeline.core import imwk as imwk_means
from pipeline.core import normalise, rescale
from pipeline.core.errors import InvalidInputError
from pipeline.errors import SpecError
from pipeline.execution.block import run_tile
from pipeline.spec import Tile
from pipeline.spec.sweep import Sweep
from pipeline.spec.toml import read_sweep
from storage import extend_cube, labels, open_cube, read_ledger, read_provenance, verify_cube
from storage.layout.kept import KEPT_RESULTS
from tests.own_tables import small_table, written
from tests.storage.made_up import comparable
from tests.workflows.commands import imwk
from workflows import submit
from workflows.compute import local_client
from workflows.table_sweep import own_sweep

SPEC = """
normalisations = ["range"]
restarts = 2
p1 = {values = [1.5, 2]}
p2 = {values = [2, 4]}
[datasets.tables.mine]
file = "my.csv"
label = "species"
"""
SYNTHETIC = """
[datasets.synthetic]
configs = ["1000x6-3"]
count = 2
"""
LARGER = (SPEC + SYNTHETIC).replace("[1.5, 2]", "[1.5, 2, 3]")
UNLABELLED = SPEC.replace('label = "species"', "k = 3").replace("my.csv", "bare.csv")


def fill_folder(folder: Path) -> Path:
    """Write tables, and spec files beside them."""
    written(small_table(), folder / "my.csv")
    written(small_table(labelled=False), folder / "bare.csv")
    for name, text in (("spec", SPEC), ("larger", LARGER), ("bare", UNLABELLED)):
        (folder / f"{name}.toml").write_text(text)
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return fill_folder(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the cube of the larger spec, computed serially."""
    folder = fill_folder(tmp_path_factory.mktemp("whole"))
    report = submit(folder / "larger.toml", folder / "cube.zarr", workers=0)
    assert (report.done, len(report.failed)) == (3, 0)
    return folder / "cube.zarr"


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with local_client(workers=2) as client:
        yield client


def remove_data(folder: Path) -> None:
    for file in folder.glob("*.csv"):
        file.unlink()


def results(cube: Path) -> xr.Dataset:
    return comparable(open_cube(cube))


def test_dask_gives_the_same_results(folder: Path, client: Client, whole: Path) -> None:
    submit(folder / "larger.toml", folder / "cube.zarr", client)
    xr.testing.assert_identical(results(folder / "cube.zarr"), results(whole))


def test_a_cube_has_the_results_of_the_tiles(whole: Path) -> None:
    table = small_table()
    sweep = Sweep.of({"mine": table}, restarts=2, p1=[1.5, 2, 3], p2=[2, 4])
    computed = run_tile(sweep.spec, Tile("mine", 0, "range"), table).arrays
    cell = results(whole).sel(config="mine", dataset=0, normalisation="range")
    for name, values in computed.items():
        if name not in KEPT_RESULTS:
            np.testing.assert_array_equal(cell[name].values, values)


def test_the_file_is_needed_only_once(folder: Path, client: Client, whole: Path) -> None:
    cube, larger = folder / "cube.zarr", read_sweep(folder / "larger.toml").spec
    sweep = read_sweep(folder / "spec.toml")

    def stop(_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        submit(sweep, cube, workers=0, on_event=stop)
    assert len(read_ledger(cube).todo) == 1
    remove_data(folder)
    # resumed with the spec in the cube
    assert submit(read_provenance(cube).spec, cube, client).done == 1
    # extended with a spec that has only the hash of the data
    (folder / "known.toml").write_text(larger.to_toml())
    known = read_sweep(folder / "known.toml")
    assert (known.spec, known.tables) == (larger, {})
    extend_cube(cube, known.spec, known.tables)
    submit(known, cube, client)
    xr.testing.assert_identical(results(cube), results(whole))
    assert "all equal, bit for bit" in imwk("verify", cube, "--recompute", 1).output


def test_errors_of_a_spec_file_name_what_is_wrong_with_the_data(folder: Path) -> None:
    file = folder / "spec.toml"
    file.write_text(SPEC.replace("species", "spices") + '[datasets.tables.none]\nfile = "x.csv"\n')
    with pytest.raises(SpecError) as caught:
        read_sweep(file)
    first, second = str(caught.value).splitlines()
    assert first.startswith(
        f'{file}: datasets.tables.mine = "my.csv": {folder / "my.csv"}: Unknown'
    )
    assert "Did you mean 'species'?" in first
    assert "x.csv: cannot be read: No such file" in second
    # wrong keys are found before a file is read
    file.write_text(SPEC + 'lable = "x"\nk = 0\n')
    with pytest.raises(SpecError) as caught:
        read_sweep(file)
    assert "datasets.tables.mine.k = 0: k must be" in str(caught.value)
    assert "datasets.tables.mine.lable" in str(caught.value)
    assert "Did you mean label?" in str(caught.value)


def test_names_of_data_sets_must_differ(folder: Path) -> None:
    file = folder / "spec.toml"
    for name, reason in (
        ("1000x6-3", "is the name of a synthetic configuration"),
        (" mine", "printable"),
        ("Iris", "two data sets have the name Iris"),
    ):
        text = SPEC.replace(".mine]", f'."{name}"]')
        file.write_text(text + '[datasets.uci]\nnames = ["iris"]\n')
        with pytest.raises(SpecError, match=reason):
            read_sweep(file)


def test_without_labels_all_commands_work_and_say_so(folder: Path) -> None:
    cube = folder / "cube.zarr"
    submit(folder / "bare.toml", cube, workers=0)
    told = "No ARI, because there are no labels: mine."
    assert told in imwk("status", cube).output
    assert json.loads(imwk("status", cube, "--json").output)["unlabelled"] == ["mine"]
    assert told in imwk("summary", cube).output
    found = imwk("query", cube, "--variable", "imwk_clusters", "--json")
    assert len(json.loads(found.output)) == 2
    assert "covers 0 of the 456" in imwk("tables", cube, "--format", "markdown").output
    exported = imwk("export", cube, "-o", folder / "out.csv")
    assert exported.output.startswith("48 rows")  # three scores, iterations and clusters
    assert "all equal, bit for bit" in imwk("verify", cube, "--recompute", 2).output


def test_real_and_synthetic_data_in_one_cube_can_be_queried(whole: Path) -> None:
    best = json.loads(imwk("query", whole, "--best", "--config", "mine", "--json").output)
    assert [(row["config"], row["dataset"]) for row in best] == [("mine", 0)]
    means = json.loads(imwk("query", whole, "--best", "--average", "--json").output)
    assert {row["config"]: row["datasets"] for row in means} == {"1000x6-3": 2, "mine": 1}
    assert "mine" in imwk("summary", whole).output
    assert imwk("tables", whole).exit_code == 0
    assert json.loads(imwk("status", whole, "--json").output)["tiles"] == 3


def test_the_sweep_of_a_file_has_the_papers_settings(folder: Path) -> None:
    spec = own_sweep(folder / "my.csv", "species").spec
    assert spec.configs == ("my",)
    assert (len(spec.tiles), len(spec.p1), len(spec.p2), spec.restarts) == (4, 40, 40, 100)
    assert spec.shape("my") == (40, 3, 3)
    assert own_sweep(folder / "bare.csv", k=4).spec.shape("bare") == (40, 3, 4)


def test_a_table_can_be_given_in_place_of_a_spec(folder: Path) -> None:
    data = ("--data", folder / "my.csv")
    planned = imwk("plan", *data, "--label", "species")
    assert planned.output.startswith("4 tiles in 16 blocks")
    refusals = {
        "Give either SPEC or --data FILE.": ("plan", "quick", *data),
        "--label is used with --data only.": ("plan", "quick", "--label", "species"),
        "the number of clusters must be given": ("plan", *data, "--ignore", "species"),
        "k must be at most 40, the number of entities, got 41": (
            "plan",
            *data,
            "--label",
            "species",
            "--k",
            "41",
        ),
        "Give SPEC and CUBE": ("submit", *data, "a", "b", "c"),
        "cannot be read: No such file": ("submit", "--data", folder / "no.csv", folder / "c.zarr"),
    }
    for words, arguments in refusals.items():
        refused = imwk(*arguments)
        assert refused.exit_code == 2
        assert words in refused.output
    assert not (folder / "c.zarr").exists()


def test_changes_of_the_data_are_printed(folder: Path) -> None:
    (folder / "gaps.csv").write_text("a,b,c\n1,7,x\n,7,y\n3,7,x\n4,7,y\n")
    planned = imwk("plan", "--data", folder / "gaps.csv", "--k", 2, "--missing", "impute")
    assert planned.stderr.splitlines() == [
        "gaps: missing values of column 'a' became its mean, 1 in all",
        "gaps: constant columns were dropped, 1 in all: 'b'",
    ]


@pytest.mark.slow
def test_from_a_file_to_exponents_heatmaps_and_labels_in_three_commands(folder: Path) -> None:
    cube = folder / "my.zarr"
    submitted = imwk("submit", "--data", folder / "my.csv", "--label", "species", cube)
    assert submitted.stdout.startswith("4 of 4 tiles done")
    drawn = imwk("heatmaps", cube, "-o", folder / "pictures").output.splitlines()
    assert [Path(file).is_file() for file in drawn] == [True] * 4
    options = ("--by", "ari", "-o", folder / "labels.csv")
    clustered = imwk("cluster", cube, *options).output
    best = json.loads(imwk("query", cube, "--best", "--json").output)
    highest = max(row["rescaled_imwk_ari"] for row in best)
    found = re.search(r"the best ari, (\S+)\n", clustered)
    assert found is not None
    assert float(found[1]) >= round(highest, 4)  # plain runs and k-means++ compete too
    assert f"adjusted Rand index {found[1]}" in clustered
    assert len((folder / "labels.csv").read_text().splitlines()) == 41
    assert len(best) == 4
    assert all(row["rescaled_imwk_ari"] > 0.9 for row in best)
    assert imwk("submit", "--data", folder / "my.csv", "--label", "species", cube).exit_code == 0
    other = imwk("submit", "--data", folder / "my.csv", "--label", "species", "--k", 2, cube)
    assert other.exit_code == 2
    assert "was created for another sweep" in other.output


@pytest.mark.slow
def test_a_table_of_100000_rows_keeps_its_labels(tmp_path: Path) -> None:
    table, cube = small_table(labelled=True, rows=100_000), tmp_path / "large.zarr"
    keys: dict[str, Any] = {
        "normalisations": ["range"],
        "p1": [1.5, 2],
        "p2": [2, 3],
        "restarts": 1,
    }
    submit(Sweep.of({"large": table}, dtype="float32", **keys), cube, workers=1)
    assert not verify_cube(cube).damaged
    X = normalise(table.X, "range")
    first = imwk_means(X, 3, 2, dtype="float32")
    rescaled = rescale(X, first.labels, first.weights)
    found = labels(cube, dataset=0, normalisation="range", p1=2, p2=3)
    wanted = imwk_means(rescaled, 3, 3, dtype="float32").labels
    np.testing.assert_array_equal(found, wanted)


def test_data_in_place_of_a_spec_are_refused_with_what_to_do(folder: Path) -> None:
    with pytest.raises(InvalidInputError, match=r"got ndarray.*Sweep\.of"):
        submit(np.zeros((3, 2)), folder / "no.zarr", workers=0)  # type: ignore[arg-type]
    assert not (folder / "no.zarr").exists()
