"""Benchmark batteries: imported by a command, then used by name wherever data are named."""

import json
from pathlib import Path

import numpy as np
import pytest

from pipeline.core.agreement import NO_CLASS
from pipeline.core.errors import InvalidInputError
from pipeline.datasets import TableError, load_battery
from pipeline.datasets.batteries import imported_sets
from pipeline.errors import MissingDataError, SpecError
from pipeline.spec.toml import parse_spec_file
from storage import open_cube, read_spec
from tests.battery_files import BATTERIES, made_up, packed, write_batteries, write_set
from tests.pipeline.datasets.uci_files import balance_scale
from tests.workflows.commands import assert_refused, imwk, output_of

SMALL = 'normalisations = ["range"]\np1 = [2.0]\np2 = [2.0]\nrestarts = 2\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IMWK_DATA", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def battery(tmp_path: Path) -> Path:
    """Import a battery of two sets, and return its folder."""
    folder = tmp_path / "mine"
    write_set(folder, "rings", *made_up(3))
    write_set(folder, "lines", *made_up(4))
    output_of("datasets", "import", folder)
    return folder


def test_all_223_sets_of_the_usual_batteries_are_read(tmp_path: Path) -> None:
    seeds = dict(write_batteries(tmp_path / "suite"))
    assert len(seeds) == 223
    (tmp_path / "suite" / "README.txt").write_text("about the suite")
    lines = output_of("datasets", "import", tmp_path / "suite").splitlines()
    assert lines[-1] == "223 sets imported"
    assert "graves: 10 sets, such as graves/ring_noisy0" in lines
    assert {name.partition("/")[0] for name in imported_sets()} == set(BATTERIES)
    for name, seed in seeds.items():
        X, first, second = made_up(seed)
        one, other = load_battery(name), load_battery(f"{name}:labels1")
        np.testing.assert_array_equal(one.X, X)
        np.testing.assert_array_equal(one.classes, first - 1)
        np.testing.assert_array_equal(other.classes, np.where(second == 0, NO_CLASS, second - 1))
        assert (one.class_count, other.class_count) == (len(np.unique(first)), 2)


def test_sets_are_listed_by_battery(battery: Path) -> None:
    assert battery.is_dir()
    assert "Imported, 2 sets of mine: mine/lines mine/rings" in output_of("datasets", "list")


def test_a_set_is_swept_by_name(battery: Path, tmp_path: Path) -> None:
    assert battery.is_dir()
    made = json.loads(output_of("plan", "--data", "mine/rings", "--json", "--workers", 1))
    assert made["tiles"] == 4
    file = tmp_path / "my.toml"
    file.write_text(f'{SMALL}[datasets.batteries]\nnames = ["mine/*", "mine/rings:labels1"]\n')
    result = imwk("submit", file, tmp_path / "cube.zarr", "--workers", 1)
    assert result.exit_code == 0, result.output
    assert "mine/rings:labels1: noise points are clustered, but left out" in result.stderr
    facts = read_spec(tmp_path / "cube.zarr").datasets.matrices
    assert {name: each.k for name, each in facts.items()} == {
        "mine/lines": 2,
        "mine/rings": 5,
        "mine/rings:labels1": 2,
    }
    assert open_cube(tmp_path / "cube.zarr")["imwk_ari"].notnull().all()


def test_a_set_is_clustered_and_drawn_by_name(battery: Path, tmp_path: Path) -> None:
    assert battery.is_dir()
    found = json.loads(output_of("cluster", "mine/rings", "--label", "labels1", "--json"))
    assert len(found["sizes"]) == 2
    assert found["notices"][0].startswith("noise points")
    output_of("scatter", "mine/lines", "-o", tmp_path / "lines.png")
    assert_refused(imwk("cluster", "mine/rings", "--no-header"), "no_header applies only to a file")


def test_the_data_file_itself_can_be_given(battery: Path) -> None:
    by_file = output_of("cluster", battery / "rings.data.gz", "--label", "labels0", "--json")
    assert by_file == output_of("cluster", "mine/rings", "--json")


def test_unknown_names_are_refused_with_what_there_is(battery: Path) -> None:
    assert battery.is_dir()
    assert_refused(imwk("cluster", "mine/ring"), "Did you mean 'mine/rings'")
    assert_refused(imwk("cluster", "yours/rings"), "Unknown battery 'yours'")
    assert_refused(imwk("cluster", "mine/rings:labels7"), "Known: labels0, labels1")
    with pytest.raises(SpecError, match=r"batteries\.names = .mine/l.: Unknown data set"):
        parse_spec_file('[datasets.batteries]\nnames = ["mine/l"]', "my.toml")
    with pytest.raises(SpecError, match=r"give a list of names or patterns"):
        parse_spec_file('[datasets.batteries]\nnames = "mine/*"', "my.toml")
    with pytest.raises(TableError, match="Give one of them"):
        load_battery("mine/rings:labels0", "labels1")
    for name in ("mine/*", "mine/../mine/rings"):
        with pytest.raises(InvalidInputError, match="Unknown data set"):
            load_battery(name)


def test_without_an_import_the_message_says_how() -> None:
    with pytest.raises(MissingDataError, match="imwk datasets import DIR"):
        load_battery("wut/circles")


def test_sets_that_cannot_be_read_are_refused_and_the_others_imported(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    write_set(folder, "good", *made_up(3))
    X, first, second = made_up(4)
    write_set(folder, "short", X, first[:-1])
    write_set(folder, "damaged", X, first, second).write_bytes(b"1 2\n")
    write_set(folder, "a b", X, first)
    write_set(tmp_path / "other" / "mine", "good", X, first)
    result = imwk("datasets", "import", tmp_path)
    assert result.exit_code == 1
    assert result.stdout.splitlines() == ["mine: 1 set, such as mine/good", "1 set imported"]
    for problem in (
        "short.labels0.gz: has",
        "damaged.data.gz: cannot be unpacked",
        "'mine/a b' is not a valid name",
        "is another file of mine/good",
    ):
        assert problem in result.stderr
    np.testing.assert_array_equal(load_battery("mine/good").X, made_up(3)[0])
    assert list(imported_sets()) == ["mine/good"]


def test_a_second_import_replaces_the_first(battery: Path) -> None:
    X, first, _ = made_up(9)
    for file in battery.iterdir():
        file.unlink()
    write_set(battery, "rings", X, first)
    output_of("datasets", "import", battery)
    np.testing.assert_array_equal(load_battery("mine/rings").X, X)
    assert list(imported_sets()["mine/rings"].labels) == ["labels0"]
    assert "mine/lines" in imported_sets()


def test_a_folder_may_have_batteries_and_raw_files(tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    write_set(folder, "rings", *made_up(3))
    (folder / "scale.txt").write_bytes(balance_scale())
    (folder / "iris.data.gz").write_bytes(packed("5.1,3.5,1.4,0.2,Iris-setosa\n"))
    result = imwk("datasets", "import", folder)
    assert result.exit_code == 1  # the file has the name of a data set, but other content
    assert "mixed: 1 set" in result.stdout
    assert "Balance: " in result.stdout
    assert "refused: " in result.stderr
