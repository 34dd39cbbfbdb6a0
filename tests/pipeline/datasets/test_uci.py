import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from pipeline.core import InvalidInputError
from pipeline.datasets import TableError
from pipeline.datasets.uci.cache import cache_folder, cached_file, import_files, load_uci
from pipeline.datasets.uci.catalogue import UciSet, uci_set, uci_sets
from pipeline.datasets.uci.fetch import fetch_uci
from pipeline.errors import MissingDataError
from tests.pipeline.datasets.uci_files import balance_scale, serving, zipped
from tests.shared_data import read_rows
from workflows.paper.published import published_values

BALANCE = balance_scale()


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv("IMWK_DATA", str(folder))
    return folder


@pytest.fixture
def offered(tmp_path: Path) -> Path:
    folder = tmp_path / "offered"
    folder.mkdir()
    return folder


def raw_files(shared: Path) -> dict[str, Path]:
    """Return the shared raw files by the paper's name."""
    by_hash = {
        hashlib.sha256(path.read_bytes()).hexdigest(): path
        for path in (shared / "uci18" / "raw").iterdir()
    }
    return {name: by_hash[entry.raw] for name, entry in uci_sets().items()}


def test_names_are_those_of_the_published_figures() -> None:
    for table in ("kmeans_plus_plus_real", "best_exponents_real"):
        assert {value.config for value in published_values(table)} == set(uci_sets())


def test_shapes_and_order_are_those_of_the_paper(shared: Path) -> None:
    rows = read_rows(shared / "paper" / "real_world_data_sets.csv")
    assert [row["data_set"] for row in rows] == list(uci_sets())
    for row in rows:
        entry = uci_set(row["data_set"])
        shape = [int(row[each]) for each in ("entities", "features", "clusters")]
        assert [entry.rows, entry.features, entry.k] == shape


def test_every_data_set_has_hashes_and_a_citation() -> None:
    for entry in uci_sets().values():
        assert len(entry.raw) == len(entry.matrix) == 64
        assert entry.doi.startswith("10.24432/")
        assert entry.doi in entry.citation
        assert uci_set(entry.key) == entry
    assert len({entry.id for entry in uci_sets().values()}) == 18


def test_raw_files_give_the_shared_matrices_cell_for_cell(shared: Path) -> None:
    files = raw_files(shared)
    assert len(files) == 18
    for name, path in files.items():
        entry = uci_set(name)
        table = entry.encode(path.read_bytes(), path.name)
        expected = np.genfromtxt(shared / "uci18" / f"{entry.key}.csv", delimiter=",", dtype=str)
        assert table.features == tuple(expected[0, :-1])
        np.testing.assert_array_equal(table.X, expected[1:, :-1].astype(np.float64))
        assert table.classes is not None
        names = np.array(table.class_names)
        np.testing.assert_array_equal(names[table.classes], expected[1:, -1])
        assert (table.class_count, table.sha256) == (entry.k, entry.matrix)


def test_a_file_is_identified_by_its_content_not_by_its_name(cache: Path, offered: Path) -> None:
    (offered / "deep").mkdir()
    (offered / "deep" / "anything.txt").write_bytes(BALANCE)
    (offered / "notes.md").write_text("nothing")
    report = import_files(offered)
    assert report.sets == {"Balance": str(offered / "deep" / "anything.txt")}
    assert report.skipped == [str(offered / "notes.md")]
    assert not report.refused
    assert cached_file(uci_set("Balance")).parent == cache
    (table,) = load_uci(["balance"]).values()
    assert table.sha256 == uci_set("Balance").matrix


OTHERWISE = {
    "crlf.txt": BALANCE.replace(b"\n", b"\r\n"),
    "blank.txt": b"\n" + BALANCE + b"\n\n",
    "decimals.txt": BALANCE.replace(b"5\n", b"5.0\n"),
    "packed.zip": zipped({"Index": b"1 2 3", "balance-scale.data": BALANCE}),
    "packed.gz": gzip.compress(BALANCE.replace(b"\n", b"\r\n")),
    "twice.zip": zipped({"balance-scale.data.gz": gzip.compress(BALANCE)}),
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_line_ends_and_archives_do_not_matter(name: str, offered: Path) -> None:
    (offered / name).write_bytes(OTHERWISE[name])
    assert list(import_files(offered / name).sets) == ["Balance"]
    assert list(load_uci(["Balance"])) == ["Balance"]


def test_a_known_name_with_other_content_is_refused_with_both_hashes(
    offered: Path,
) -> None:
    entry = uci_set("Balance")
    changed = BALANCE.replace(b"B,1,1,1,1", b"B,1,1,1,2")
    file = offered / "balance-scale.data"
    file.write_bytes(changed)
    report = import_files(offered)
    (reason,) = report.refused.values()
    for expected in (hashlib.sha256(changed).hexdigest(), entry.raw, entry.matrix):
        assert expected in reason
    file.write_bytes(BALANCE[:1000])
    (reason,) = import_files(offered).refused.values()
    assert "has the unknown category" in reason or "numbers, but Balance has 625 x 4" in reason
    with pytest.raises(MissingDataError):
        load_uci(["Balance"])


def test_files_that_cannot_be_unpacked_are_skipped(
    offered: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = OTHERWISE["packed.zip"]
    (offered / "cut.zip").write_bytes(archive[:-30])
    (offered / "cut.gz").write_bytes(gzip.compress(BALANCE)[:-5])
    assert sorted(import_files(offered).skipped) == [
        str(offered / "cut.gz"),
        str(offered / "cut.zip"),
    ]
    monkeypatch.setattr("pipeline.datasets.uci.cache.LARGEST_FILE", 1000)
    (offered / "large.data").write_bytes(BALANCE)
    assert str(offered / "large.data") in import_files(offered).skipped


def test_all_missing_data_sets_are_named(offered: Path) -> None:
    (offered / "a").write_bytes(BALANCE)
    import_files(offered)
    with pytest.raises(
        MissingDataError, match=r"2 real data sets .*: Iris, Zoo\. Download them with imwk"
    ):
        load_uci(["Iris", "Balance", "Zoo"])
    with pytest.raises(InvalidInputError, match="Did you mean 'Iris'"):
        load_uci(["Irish"])
    with pytest.raises(MissingDataError, match="There is no file or folder"):
        import_files(offered / "none")


def test_a_changed_file_in_the_cache_is_refused(offered: Path) -> None:
    (offered / "a").write_bytes(BALANCE)
    import_files(offered)
    cached_file(uci_set("Balance")).write_bytes(BALANCE.replace(b"L,5,5,5,4", b"R,5,5,5,4"))
    with pytest.raises(TableError, match=r"balance-scale\.data: was changed: its SHA-256 is"):
        load_uci(["Balance"])


def test_the_default_cache_is_in_the_users_cache_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("IMWK_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", "/somewhere")
    assert cache_folder() == Path("/somewhere/imwk-sweep")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert cache_folder() == Path.home() / ".cache" / "imwk-sweep"


def archive_of(entry: UciSet, content: bytes) -> dict[str, bytes]:
    """Return the archive that UCI's server has for a data set."""
    return {entry.archive: zipped({"Index": b"files", entry.files[0]: content})}


def test_data_sets_are_fetched_from_the_path_of_their_archive() -> None:
    entry = uci_set("Balance")
    assert entry.archive == "static/public/12/balance+scale.zip"
    with serving(archive_of(entry, BALANCE)) as address:
        report = fetch_uci(["balance"], address)
    assert list(report.sets) == ["Balance"]
    assert list(load_uci(["Balance"])) == ["Balance"]


def test_unknown_downloads_are_refused() -> None:
    entry, other = uci_set("Balance"), BALANCE.replace(b"B,", b"R,", 1)
    with serving(archive_of(entry, other)) as address:
        assert len(fetch_uci(["Balance"], address).refused) == 1
    with serving({entry.archive: zipped({"Index": b"files"})}) as address:
        (reason,) = fetch_uci(["Balance"], address).refused.values()
        assert reason.startswith("has no file of Balance")
    with serving({entry.archive: b"PK\x03\x04 broken"}) as address:
        with pytest.raises(TableError, match="cannot be unpacked"):
            fetch_uci(["Balance"], address)
        with pytest.raises(TableError, match=r"iris\.zip: cannot be downloaded: 404"):
            fetch_uci(["Iris"], address)
    with pytest.raises(MissingDataError):
        load_uci(["Balance"])


def test_a_server_that_does_not_answer_is_reported() -> None:
    with serving({}) as address:
        pass
    with pytest.raises(TableError, match=r"cannot be downloaded: .* imwk datasets import DIR"):
        fetch_uci(["Iris"], address)


def test_all_shared_data_sets_are_fetched_from_a_local_server(shared: Path) -> None:
    files = raw_files(shared)
    contents: dict[str, bytes] = {}
    for name, path in files.items():
        contents |= archive_of(uci_set(name), path.read_bytes())
    with serving(contents) as address:
        report = fetch_uci(files, address)
    assert set(report.sets) == set(files)
    assert set(load_uci(files)) == set(files)
