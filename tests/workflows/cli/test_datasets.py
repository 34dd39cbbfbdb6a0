import json
from pathlib import Path

import pytest

from pipeline.datasets.uci.catalogue import uci_set, uci_sets
from pipeline.errors import SpecError
from pipeline.spec.toml import parse_spec_file
from storage import open_cube
from tests.pipeline.datasets.uci_files import balance_scale, serving, zipped
from tests.workflows.commands import imwk
from workflows import submit
from workflows.paper.comparison import compare_with_paper
from workflows.paper.published import published_values
from workflows.presets import preset_text
from workflows.spec_files import load_sweep


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IMWK_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    folder = tmp_path / "offered"
    folder.mkdir()
    (folder / "scale.txt").write_bytes(balance_scale())
    return folder


def test_data_sets_are_imported_and_listed(offered: Path, cache: Path) -> None:
    (offered / "notes.txt").write_text("mine")
    result = imwk("datasets", "import", offered)
    assert result.exit_code == 0
    assert f"Balance: {offered / 'scale.txt'}" in result.stdout
    assert "1 data set found; still missing: Australian CC, Breast cancer" in result.stdout
    assert result.stderr == (
        f"skipped, because it is not one of the data sets: {offered / 'notes.txt'}\n"
    )
    lines = imwk("datasets", "list").output.splitlines()
    states = {line.split()[0]: line.split()[-1] for line in lines[3:21]}
    assert (states["Balance"], states["Iris"]) == ("present", "missing")
    assert str(cache) in lines[-1]


def test_the_json_list_describes_all_data_sets() -> None:
    facts = json.loads(imwk("datasets", "list", "--json").output)
    assert [entry["name"] for entry in facts] == list(uci_sets())
    for entry in facts:
        assert entry["licence"] == "CC BY 4.0"
        assert not entry["present"]
        assert {"raw", "matrix", "citation", "rows", "features", "k", "columns"} <= entry.keys()


def test_refused_files_are_shown_with_their_hashes(tmp_path: Path) -> None:
    (tmp_path / "iris.data").write_text("5.1,3.5,1.4,0.2,Iris-setosa\n")
    result = imwk("datasets", "import", tmp_path)
    assert result.exit_code == 1
    assert f"refused: {tmp_path / 'iris.data'}: its SHA-256 is " in result.stderr
    assert uci_set("Iris").raw in result.stderr
    assert imwk("datasets", "import", tmp_path / "none").exit_code == 2


def test_data_sets_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = uci_set("Balance")
    archive = zipped({entry.files[0]: balance_scale()})
    with serving({entry.archive: archive}) as address:
        monkeypatch.setattr("pipeline.datasets.uci.fetch.ADDRESS", address)
        fetched = imwk("datasets", "fetch", "balance")
        assert fetched.exit_code == 0
        assert fetched.stdout.startswith(f"Balance: {address}/{entry.archive}/{entry.files[0]}")
        lost = imwk("datasets", "fetch")
    assert lost.exit_code == 2
    assert "statlog+australian+credit+approval.zip: cannot be downloaded" in lost.stderr


def test_the_preset_needs_all_sets_and_says_which_are_missing(offered: Path) -> None:
    imwk("datasets", "import", offered)
    with pytest.raises(SpecError) as caught:
        load_sweep("uci")
    message = str(caught.value)
    assert "17 real data sets are not on this machine: Australian CC, Breast cancer" in message
    assert "imwk datasets fetch" in message


def test_the_preset_is_the_papers_sweep_of_18_sets_with_the_authors_centres() -> None:
    text = preset_text("uci")
    synthetic = '[datasets.synthetic]\nconfigs = "all"\ncount = 50'
    other = text.replace('[datasets.uci]\nnames = "all"', synthetic)
    paper = load_sweep("paper").spec.model_copy(update={"centre": "fixed-step"})
    assert parse_spec_file(other, "uci").sweep.spec == paper


def test_swept_data_sets_are_in_the_paper_tables(offered: Path, tmp_path: Path) -> None:
    imwk("datasets", "import", offered)
    file = tmp_path / "some.toml"
    some = preset_text("uci").replace('"all"', '["balance"]')
    some = some.replace("restarts = 100", "restarts = 3").replace("stop = 5.0", "stop = 1.2")
    file.write_text(some)
    submit(file, tmp_path / "cube.zarr", workers=0)
    rows = compare_with_paper(open_cube(tmp_path / "cube.zarr"))
    covered = [row for row in rows if row.found]
    wanted = [
        value
        for table in ("kmeans_plus_plus_real", "best_exponents_real")
        for value in published_values(table)
        if value.config == "Balance"
    ]
    assert [row.published for row in covered] == wanted
    assert {row.found.datasets for row in covered if row.found} == {1}
    assert {row.found.sample for row in covered if row.found} == {1, 3}
