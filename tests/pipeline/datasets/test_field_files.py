"""Files as the field publishes them: without a header, packed, ARFF, MATLAB, batteries."""

import gzip
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from scipy.io.arff import loadarff
from scipy.sparse import csc_array

from pipeline.datasets import TableError, read_table
from pipeline.datasets.tables import packed
from pipeline.spec.toml import parse_spec_file
from tests.battery_files import matrix_text, write_set
from tests.own_tables import small_table, written

X = np.array([[0.5, 1.0], [2.0, 3.0], [7.25, 8.0], [-1e-3, 4.0]])


def refused(path: Path, label: str | None = None, header: bool = True) -> str:
    """Return the message without the name of the file, which comes first."""
    with pytest.raises(TableError) as caught:
        read_table(path, label, header=header)
    assert str(caught.value).startswith(str(path))
    return str(caught.value).removeprefix(str(path))


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


# Without a header


def test_columns_without_a_header_are_numbered(tmp_path: Path) -> None:
    path = put(tmp_path / "my.csv", "5.1,3.5,a\n4.9,3.0,b\n")
    table = read_table(path, "x3", header=False)
    assert table.features == ("x1", "x2")
    assert table.X.tolist() == [[5.1, 3.5], [4.9, 3.0]]
    assert table.class_names == ("a", "b")


def test_a_file_with_and_without_its_header_is_the_same_table(tmp_path: Path) -> None:
    table = small_table()
    whole = written(table, tmp_path / "whole.csv")
    bare = put(tmp_path / "bare.csv", whole.read_text().partition("\n")[2])
    assert read_table(bare, "x4", header=False).sha256 == read_table(whole, "species").sha256


def test_a_spec_may_say_that_there_is_no_header(tmp_path: Path) -> None:
    put(tmp_path / "my.csv", "1,a\n2,b\n3,b\n")
    text = '[datasets.tables.mine]\nfile = "my.csv"\nlabel = "x2"\nheader = false\n'
    sweep = parse_spec_file(text, "my.toml", tmp_path).sweep
    assert sweep.spec.shape("mine") == (3, 1, 2)


def test_errors_without_a_header_name_the_line(tmp_path: Path) -> None:
    path = put(tmp_path / "my.csv", "1,2\n3,4,5\n")
    assert refused(path, header=False).startswith(", line 2: has 3 fields, but there are 2 columns")
    assert "is empty" in refused(put(tmp_path / "no.csv", "\n\n"), header=False)
    assert "separated by semicolons" in refused(put(tmp_path / "s.csv", "1;2\n"), header=False)
    message = refused(put(tmp_path / "b.csv", "1.5,2\n1,2\n"))
    assert "'1.5' is a number, not a column name" in message
    assert "header = false" in message


def test_only_separated_values_can_lack_a_header(tmp_path: Path) -> None:
    np.savez(tmp_path / "my.npz", X=X)
    assert "applies to .csv and .tsv files" in refused(tmp_path / "my.npz", header=False)


# Packed files


@pytest.mark.parametrize("ending", [".csv", ".tsv"])
def test_a_packed_file_is_the_same_table(ending: str, tmp_path: Path) -> None:
    plain = written(small_table(), tmp_path / f"my{ending}")
    if ending == ".tsv":
        plain.write_text(plain.read_text().replace(",", "\t"))
    file = tmp_path / f"my{ending}.gz"
    file.write_bytes(gzip.compress(plain.read_bytes()))
    assert read_table(file, "species").sha256 == read_table(plain, "species").sha256


def test_a_packed_file_with_categories_is_read_twice(tmp_path: Path) -> None:
    file = tmp_path / "my.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"1,x\n2,y\n" * 30_000))
    assert read_table(file).features == ("a", "b=x", "b=y")


def test_damaged_packed_files_are_refused(tmp_path: Path) -> None:
    content = gzip.compress(b"a,b\n" + bytes(str(list(range(9999))), "ascii"))
    file = tmp_path / "my.csv.gz"
    file.write_bytes(content[: len(content) // 2])
    assert "cannot be unpacked: Compressed file ended" in refused(file)
    file.write_bytes(b"a,b\n1,2\n")
    assert "cannot be unpacked: Not a gzipped file" in refused(file)
    file.write_bytes(content[:50] + bytes(20) + content[70:])
    assert "cannot be unpacked" in refused(file)
    file.write_bytes(gzip.compress(b"a,b\n1,2\n3,\xff\n"))
    assert refused(file).startswith(", line 3: byte 0xff is not UTF-8")


def test_a_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packed, "MOST_BYTES", 1_000_000)
    file = tmp_path / "my.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 500_000))
    assert len(file.read_bytes()) < 10_000
    assert "unpacks to more than 1,000,000 bytes" in refused(file)


def test_millions_of_blank_lines_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.datasets.tables.text_rows.MOST_LINES", 1000)
    file = put(tmp_path / "my.csv", "a,b\n1,2\n" + "\n" * 2000)
    assert refused(file).startswith(", line 1001: there are more than 1,000 lines")


def test_other_packed_files_are_of_an_unknown_kind(tmp_path: Path) -> None:
    assert "is of an unknown kind" in refused(put(tmp_path / "my.npz.gz", ""))


# Batteries


def test_a_matrix_and_its_labellings(tmp_path: Path) -> None:
    path = write_set(tmp_path, "my", X, np.array([1, 2, 1, 2]), np.array([0, 2, 3, 3]))
    assert read_table(path).classes is None
    first, second = read_table(path, "labels0"), read_table(path, "labels1")
    np.testing.assert_array_equal(first.X, X)
    assert (first.classes.tolist(), first.class_count) == ([0, 1, 0, 1], 2)  # type: ignore[union-attr]
    assert second.classes.tolist() == [-1, 0, 1, 1]  # type: ignore[union-attr]
    assert (second.class_names, second.class_count) == (("2", "3"), 2)
    assert second.notices == ("noise points are clustered, but left out of the ARI, 1 in all",)


def test_comments_tabs_blank_lines_and_unpacked_files(tmp_path: Path) -> None:
    text = matrix_text(X, "\t ", "# made by hand\n\n").replace("8.0", "8.0 # far")
    path = put(tmp_path / "my.data", text)
    put(tmp_path / "my.labels0", "# classes\n1\n2\n\n1\n02\n")
    np.testing.assert_array_equal(read_table(path).X, X)
    assert read_table(path, "labels0").classes.tolist() == [0, 1, 0, 1]  # type: ignore[union-attr]


def test_a_hundred_classes_and_noise_are_allowed(tmp_path: Path) -> None:
    labels = np.arange(303) % 101
    path = write_set(
        tmp_path, "birch", np.random.default_rng(0).random((303, 2)), labels, labels + 1
    )
    assert read_table(path, "labels0").class_count == 100
    assert "more than 100 classes" in refused(path, "labels1")


def test_errors_of_matrices_name_the_cell(tmp_path: Path) -> None:
    path = tmp_path / "my.data"
    assert refused(put(path, "1 2\n3 x\n")) == (
        ", line 2: 'x' in column 'x2' is not a number. Correct it."
    )
    assert refused(put(path, "1 2\n3\n")).startswith(", line 2: has 1 fields")
    assert "values are missing in line 2, column 'x1'" in refused(put(path, "1 2\nnan 3\n"))
    assert "Rename it to .csv" in refused(put(path, "1,2\n3,4\n"))
    assert "is empty" in refused(put(path, "# nothing\n"))
    assert refused(tmp_path / "none.data.gz") == ": cannot be read: No such file or directory."
    assert "Unknown column 'labels0'" in refused(put(path, "1 2\n3 4\n"), "labels0")


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("1\n2\n", "has 2 labels, but "),
        ("1\n2\n1\n2\n1\n", "has 5 labels, but "),
        ("", "has 0 labels"),
        ("1\n2\n-1\n2\n", "line 3: '-1' is not a label"),
        ("1\n2\n1.5\n2\n", "line 3: '1.5' is not a label"),
        ("1 2\n1\n2\n1\n", "line 1: '1 2' is not a label"),
    ],
)
def test_errors_of_labellings_name_their_file(labels: str, message: str, tmp_path: Path) -> None:
    path = put(tmp_path / "my.data", matrix_text(X))
    file = put(tmp_path / "my.labels0", labels)
    with pytest.raises(TableError) as caught:
        read_table(path, "labels0")
    assert str(caught.value).startswith(str(file))
    assert message in str(caught.value)


def test_labels_of_one_class_or_of_noise_only_are_refused(tmp_path: Path) -> None:
    path = write_set(tmp_path, "my", X, np.array([1, 1, 0, 1]), np.zeros(4, dtype=np.int64))
    assert "'labels0' has one class only, '1'" in refused(path, "labels0")
    assert "'labels1' has noise points only" in refused(path, "labels1")


# ARFF

ARFF = """% made up
@RELATION 'my data'
@attribute size REAL
@Attribute\t"the colour"  {red, 'light blue', "it's"}
@attribute note string
@attribute 'class' {1,2}

@DATA
% rows
1.5, red, a, 1
2.5,'light blue',a,2
3e0, "it's", 'b, c', 1
-1, red, 'b, c', 2
"""


def test_an_arff_file(tmp_path: Path) -> None:
    table = read_table(put(tmp_path / "my.arff", ARFF), "class")
    assert table.features == (
        "size",
        "the colour=it's",
        "the colour=light blue",
        "the colour=red",
        "note=a",
        "note=b, c",
    )
    assert table.X[:, 0].tolist() == [1.5, 2.5, 3.0, -1.0]
    assert (table.classes.tolist(), table.class_names) == ([0, 1, 0, 1], ("1", "2"))  # type: ignore[union-attr]


def test_an_arff_file_has_the_values_that_scipy_reads(tmp_path: Path) -> None:
    rng, kinds = np.random.default_rng(0), ("wide", "narrow", "x")
    header = "@relation r\n@attribute a real\n@attribute b integer\n@attribute 'c d' {wide,"
    rows = [f"{rng.normal()!r},{rng.integers(9)},{kinds[row % 3]}\n" for row in range(50)]
    path = put(tmp_path / "my.arff", f"{header}narrow,x}}\n@data\n" + "".join(rows))
    table, (values, _) = read_table(path, "c d"), loadarff(path)
    np.testing.assert_array_equal(table.X, np.column_stack([values["a"], values["b"]]))
    assert [table.class_names[code].encode() for code in table.classes] == values["c d"].tolist()  # type: ignore[union-attr]


def test_nominal_digits_are_categories_and_gaps_are_missing(tmp_path: Path) -> None:
    text = ARFF.replace("{1,2}", "{0,1,2}").replace("2.5,", "?,")
    path = put(tmp_path / "my.arff", text)
    assert "values are missing in line 11, column 'size'" in refused(path)
    table = read_table(path, missing="impute")
    assert table.features[-2:] == ("class=1", "class=2")
    assert table.X[1, 0] == pytest.approx((1.5 + 3 - 1) / 3)


def test_a_packed_arff_file_is_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "my.arff.gz").write_bytes(gzip.compress(ARFF.encode()))
    plain = read_table(put(tmp_path / "my.arff", ARFF), "class")
    assert read_table(tmp_path / "my.arff.gz", "class").sha256 == plain.sha256


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("1.5, red, a, 1", "{0 1.5, 1 red}", "line 10: the file is sparse"),
        ("1.5, red, a, 1", "1.5, red, a", "line 10: has 3 fields, but there are 4 columns"),
        ("1.5, red", "big, red", "line 10: 'big' in column 'size' is not a number"),
        ("1.5, red", "1.5, green", "line 10: 'green' is not a category of column 'the colour'"),
        ("-1, red, 'b, c', 2", "-1, red, 'b, c', 3", "line 13: '3' is not a category"),
        ("'light blue',a", "'light blue,a", "line 11: a quote is not closed"),
        ("'light blue',a", "'light blue' x,a", "line 11: a quote is not closed, or text follows"),
        ("note string", "note date", "line 5: attribute 'note' is of the type 'date'"),
        ("note string", "'note string", "line 5: the attribute has no name, or a quote"),
        ("note string", "size string", "two columns have the name 'size'"),
        ("@DATA", "@rows", "line 8: '@rows' is not a line of a header"),
    ],
)
def test_errors_of_arff_files_name_the_line(
    old: str, new: str, message: str, tmp_path: Path
) -> None:
    assert old in ARFF
    assert message in refused(put(tmp_path / "my.arff", ARFF.replace(old, new)), "class")


def test_arff_files_without_data_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.arff"
    assert "has no @data" in refused(put(path, "@relation r\n@attribute a real\n"))
    assert "line 2: there is no @attribute" in refused(put(path, "@relation r\n@data\n1\n"))
    assert "has no rows" in refused(put(path, "@relation r\n@attribute a real\n@data\n"))


def test_a_long_damaged_line_takes_no_time_to_refuse(tmp_path: Path) -> None:
    """A backtracking pattern would need hours for it."""
    path = put(tmp_path / "my.arff", ARFF + "1, '" + "\\' " * 1_000_000 + "\n")
    assert "line 14: a quote is not closed" in refused(path)
    path = put(tmp_path / "my.arff", ARFF + "1," + " " * 3_000_000 + "'x' y\n")
    assert "line 14: a quote is not closed" in refused(path)


# MATLAB


@pytest.mark.parametrize("name", ["X", "Data", "data"])
@pytest.mark.parametrize("compressed", [False, True])
def test_a_matlab_file(name: str, compressed: bool, tmp_path: Path) -> None:
    path, y = tmp_path / "my.mat", np.array([[3], [1], [3], [1]], dtype=np.uint8)
    savemat(path, {name: X, "y": y, "other": {"a": 1}}, do_compression=compressed)
    table = read_table(path, "y")
    np.testing.assert_array_equal(table.X, X)
    assert (table.classes.tolist(), table.class_names) == ([1, 0, 1, 0], ("1", "3"))  # type: ignore[union-attr]
    assert read_table(path).classes is None


def test_labels_of_a_matlab_file_may_be_texts_or_a_row(tmp_path: Path) -> None:
    path, cells = tmp_path / "my.mat", np.array(["b", "a", "b", "b"], dtype=object)
    savemat(path, {"X": X.astype(np.int16), "species": cells, "row": [1.0, 2.0, 2.0, 1.0]})
    assert read_table(path, "species").class_names == ("a", "b")
    assert read_table(path, "row").class_names == ("1", "2")


def element(stored: int, content: bytes) -> bytes:
    """Return an element of a MATLAB file, in the order of a big endian machine."""
    return struct.pack(">II", stored, len(content)) + content + bytes(-len(content) % 8)


def test_a_matlab_file_of_a_big_endian_machine(tmp_path: Path) -> None:
    parts = [
        element(6, struct.pack(">II", 6, 0)),
        element(5, struct.pack(">ii", *X.shape)),
        struct.pack(">I", 1 << 16 | 1) + b"X\0\0\0",  # a name of one letter is in the tag
        element(9, X.astype(">f8").tobytes(order="F")),
    ]
    path = tmp_path / "my.mat"
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + element(14, b"".join(parts)))
    np.testing.assert_array_equal(loadmat(path)["X"], X)
    np.testing.assert_array_equal(read_table(path).X, X)


def test_labels_in_rows_of_text(tmp_path: Path) -> None:
    savemat(tmp_path / "my.mat", {"X": X, "y": np.array(["ab", "c", "ab", "ü"])})
    assert read_table(tmp_path / "my.mat", "y").class_names == ("ab", "c", "ü")


def test_unusable_matlab_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "my.mat"
    savemat(path, {"A": X})
    assert "named X or Data; its variables: A" in refused(path)
    savemat(path, {"X": X, "Data": X})
    assert "its variables: X, Data" in refused(path)
    savemat(path, {"X": csc_array(X)})
    assert "'X' is not a full array of real numbers" in refused(path)
    savemat(path, {"X": X * 1j})
    assert "'X' is not a full array of real numbers" in refused(path)
    savemat(path, {"X": X, "y": [1, 2, 3]})
    assert "'y' has 3 labels, but there are 4 rows" in refused(path, "y")
    savemat(path, {"X": X, "y": {"a": [1, 2, 3, 4]}})
    assert "'y' is not a full array of real numbers" in refused(path, "y")
    savemat(path, {"X": np.zeros((2, 2, 2))})
    assert "'X' has 3 dimensions" in refused(path)
    assert "Unknown column 'z'" in (savemat(path, {"X": X}) or refused(path, "z"))


def test_files_of_other_versions_of_matlab_say_how_to_save_them(tmp_path: Path) -> None:
    path = tmp_path / "my.mat"
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + bytes(384) + b"\x89HDF")
    assert "version v7.3 (HDF5). Save it again" in refused(path)
    savemat(path, {"X": X}, format="4")
    assert "is not a MATLAB file of version v6 or v7. Save it again" in refused(path)


def test_a_matlab_file_that_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my.mat"
    savemat(path, {"X": X})
    bomb = zlib.compress(bytes(3_000_000))
    tag = (15).to_bytes(4, "little") + len(bomb).to_bytes(4, "little")
    path.write_bytes(path.read_bytes() + tag + bomb)
    monkeypatch.setattr("pipeline.datasets.tables.mat_variables.MOST_BYTES", 1_000_000)
    assert "its variables have more than 1,000,000 bytes" in refused(path)
