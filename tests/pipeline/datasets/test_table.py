import csv
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core import ImwkError, InvalidInputError
from pipeline.datasets.tables import columns
from pipeline.datasets.tables.table import Table, read_table
from pipeline.errors import TableError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def put(content: str | bytes, name: str = "my.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return put


def refused(path: Path, label: str | None = None, **options: Any) -> str:
    """Return the message for a file that is refused, without the file's name."""
    with pytest.raises(TableError) as caught:
        read_table(path, label, **options)
    message = str(caught.value)
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_numbers_categories_and_classes(write: Write) -> None:
    table = read_table(write("n,c,y\n2,b,B\n1e1,a,A\n-0,10,B\n"), "y")
    assert table.features == ("n", "c=10", "c=a", "c=b")
    assert table.X.tolist() == [[2, 0, 0, 1], [10, 0, 1, 0], [0, 1, 0, 0]]
    assert not np.signbit(table.X).any()
    assert table.classes is not None
    assert (table.classes.tolist(), table.class_names) == ([1, 0, 1], ("A", "B"))


def test_categories_that_are_numbers_are_sorted_by_value(write: Write) -> None:
    path = write("c,y\n10,10\n9,9.\n10.0,9\n")
    table = read_table(path, "y", categorical=["c"])
    assert table.features == ("c=9", "c=10")
    assert table.class_names == ("9", "10")
    assert read_table(path, "y").features == ("c",)


def test_a_class_that_is_a_number_without_digits_before_the_point(write: Write) -> None:
    table = read_table(write("x,y\n1,.0\n2,1.0\n3,-.0\n"), "y")
    assert set(table.class_names) == {".0", "-.0", "1"}


def test_ignored_columns_are_not_read(write: Write) -> None:
    rows = "".join(f"name{row},{row % 5}\n" for row in range(200))
    path = write(f"id,x\n{rows}")
    assert "'id' has more than 100 different values" in refused(path)
    assert read_table(path, ignore=["id"]).features == ("x",)
    assert refused(path, ignore=["idd"]) == (
        ": Unknown column 'idd'. Did you mean 'id'? Known: id, x."
    )


def test_identifiers_are_refused(write: Write) -> None:
    rows = "".join(f"{row},animal {row}\n" for row in range(12))
    assert "column 'name' has 12 different values in 12 rows" in refused(write(f"x,name\n{rows}"))


def test_a_mistyped_number_is_shown(write: Write) -> None:
    rows = "".join(f"{row}.5\n" for row in range(300))
    message = refused(write(f"x\n{rows}3.5x\n"))
    assert "that are not numbers, first '3.5x' in line 302" in message
    few = read_table(write("x\n1\n2\none\n"))
    assert few.features == ("x=1", "x=2", "x=one")
    assert "'one' in line 4" in few.notices[0]


def test_missing_cells_are_named(write: Write) -> None:
    path = write("a,b\n1,x\n,y\n\n3,?\n4,x\n")
    message = refused(path)
    assert message.startswith(": values are missing in line 3, column 'a'; line 5, column 'b'.")
    assert "impute" in message
    many = write("a\n" + "NA\n" * 9)
    assert "; and 4 more." in refused(many)


def test_missing_cells_become_mean_and_mode(write: Write) -> None:
    path = write("a,b,e\n1,x,\n,y,\n3,?,\n5,y,\n")
    table = read_table(path, missing="impute")
    assert table.features == ("a", "b=x", "b=y")
    assert table.X.tolist() == [[1, 1, 0], [3, 0, 1], [3, 0, 1], [5, 0, 1]]
    assert table.notices == (
        "missing values of column 'a' became its mean, 1 in all",
        "missing values of column 'b' became its most frequent category, 1 in all",
        "column 'e' is empty and was dropped",
    )


def test_means_of_huge_numbers_are_finite(write: Write) -> None:
    table = read_table(write("a\n1.5e308\n1.7e308\nNA\n"), missing="impute")
    assert table.X[2, 0] == pytest.approx(1.6e308)


def test_constant_columns_are_dropped_with_a_notice(write: Write) -> None:
    table = read_table(write("a,b,c\n1,7,u\n2,7,u\n"))
    assert table.features == ("a",)
    assert table.notices == ("constant columns were dropped, 2 in all: 'b', 'c=u'",)
    assert "all columns are constant or empty" in refused(write("a\n1\n1\n"))


HEADERS = {
    "a,a\n1,2\n": ", line 1: two columns have the name 'a'",
    "a,\n1,2\n": ", line 1: column 2 has no name",
    "5.1,3.5\n1,2\n": ", line 1: '5.1' is a number, not a column name",
    "a;b\n1;2\n": ", line 1: its fields are separated by semicolons",
    "": ": is empty",
    "\n\n": ": is empty",
    "a,b\n": ": has no rows",
    "\na,b\n1\n": ", line 3: has 1 fields, but there are 2 columns",
    "a,b\n1,2\n1,2,3\n": ", line 3: has 3 fields, but there are 2 columns",
    'a,b\n"1\n",2\n"3,4\n': ", line 4: cannot be split into fields",
    'a,b\n"1"2,3\n': ", line 2: cannot be split into fields",
    "a,b\n1,inf\n2,1e999\n": ": numbers are infinite or too large in line 2, column 'b'; line 3",
    "a\n1\0\n": ", line 2: has a null character",
}


@pytest.mark.parametrize(("content", "message"), HEADERS.items(), ids=range(len(HEADERS)))
def test_errors_in_a_table_name_the_line(content: str, message: str, write: Write) -> None:
    assert refused(write(content)).startswith(message)


ENCODINGS = {
    b"a,b\n1,2\n\xe9,3\n": ", line 3: byte 0xe9 is not UTF-8. Save the file as UTF-8.",
    "a,b\n1,2\n".encode("utf-16"): ", line 1: is UTF-16",
    b"a\n" + b"\xc3\xa9\n" * 9000 + b"\xff\n": ", line 9002: byte 0xff is not UTF-8",
}


@pytest.mark.parametrize(("content", "message"), ENCODINGS.items(), ids=range(len(ENCODINGS)))
def test_errors_in_the_encoding_name_the_line(content: bytes, message: str, write: Write) -> None:
    assert refused(write(content)).startswith(message)


def test_a_bom_line_ends_and_quotes_do_not_matter(write: Write) -> None:
    plain = read_table(write("ä,b,y\n1,x,p\n2,z,q\n"), "y")
    for content in (
        "\ufeffä,b,y\n1,x,p\n2,z,q\n",
        "ä,b,y\r\n1,x,p\r\n2,z,q",
        'ä,"b",y\r 1 ,x,"p"\r"2","z",q\r\r',
    ):
        other = read_table(write(content), "y")
        assert (other.sha256, other.features) == (plain.sha256, plain.features)
    tabs = read_table(write("ä\tb\ty\n1\tx\tp\n2\tz\tq\n", "my.tsv"), "y")
    assert tabs.sha256 == plain.sha256


LABELS = {
    "a,y\n1,p\n2,p\n": ": the label 'y' has one class only, 'p'",
    "a,y\n1,p\n2,\n": ": the label is missing in line 3, column 'y'",
    "y\np\nq\n": ": has no columns to cluster by",
    "a,Y\n1,p\n2,q\n": ": Unknown column 'y'.",
    "a,y\n" + "".join(f"1,{row}\n" for row in range(200)): ": the label 'y' has more than 100",
}


@pytest.mark.parametrize(("content", "message"), LABELS.items(), ids=range(len(LABELS)))
def test_unusable_labels_are_refused(content: str, message: str, write: Write) -> None:
    content = content.replace("\n1,", "\n3,", 1)  # the feature must vary
    assert refused(write(content), "y", missing="impute").startswith(message)


def test_a_mistyped_label_is_corrected_and_a_label_cannot_be_ignored(write: Write) -> None:
    path = write("a,species\n1,p\n2,q\n")
    assert "Did you mean 'species'?" in refused(path, "specis")
    with pytest.raises(TableError, match="cannot be ignored"):
        read_table(path, "species", ignore=["species"])


def test_an_unknown_way_to_treat_missing_values_is_refused(write: Write) -> None:
    with pytest.raises(InvalidInputError, match="Did you mean 'impute'"):
        read_table(write("a\n1\n2\n"), missing="input")


def test_tables_above_the_limits_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_ROWS", 3)
    monkeypatch.setattr(columns, "MOST_COLUMNS", 4)
    monkeypatch.setattr(columns, "MOST_CELLS", 9)
    assert ": has more than 3 rows" in refused(write("a\n1\n2\n3\n4\n"))
    assert ": has more than 4 columns" in refused(write("a,b,c,d,e\n1,2,3,4,5\n"))
    assert ": has more than 9 cells" in refused(write("a,b,c,d\n" + "1,2,3,4\n" * 3))
    assert ": has more than 4 columns" in refused(write("a,b,c\n1,u,x\n2,v,y\n3,w,z\n"))


def test_files_that_cannot_be_read_are_named(tmp_path: Path, write: Write) -> None:
    assert refused(tmp_path / "none.csv") == ": cannot be read: No such file or directory."
    folder = tmp_path / "folder.csv"
    folder.mkdir()
    assert "Is a directory" in refused(folder)
    assert "Give a file that ends in .parquet, .npz, .mat, .csv" in refused(write("a", "my.xls"))
    with pytest.raises(TableError, match="has a null character in its name"):
        read_table("a\0b.csv")
    for name in ("no.npz", "no.parquet"):
        assert "No such file" in refused(tmp_path / name)
        assert refused(write(b"PK\x03\x04 no such file", name)).startswith(": ")


def test_errors_can_be_pickled(write: Write) -> None:
    with pytest.raises(ImwkError) as caught:
        read_table(write("a,b\n1\n"))
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


tables = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False) | st.none(),
        st.sampled_from(["red", "blue", "", "x,y", 'a "b"', "ä"]),
        st.sampled_from(["1", "2"]),
    ),
    min_size=3,
    max_size=20,
).filter(
    lambda rows: (
        len({row[0] for row in rows if row[0] is not None}) > 1
        and len({row[2] for row in rows}) > 1
    )
)


@given(rows=tables)
def test_all_kinds_of_files_give_the_same_table(
    rows: list[tuple[float | None, str, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.getbasetemp()
    frame = pd.DataFrame(rows, columns=["number", "colour", "class"])
    frame["number"] = frame["number"].astype("float64")
    frame.to_csv(folder / "my.csv", index=False, quoting=csv.QUOTE_MINIMAL)
    frame.to_csv(folder / "my.tsv", index=False, sep="\t")
    frame.to_parquet(folder / "my.parquet")
    hashes = {
        read_table(folder / f"my.{ending}", "class", missing="impute").sha256
        for ending in ("csv", "tsv", "parquet")
    }
    assert len(hashes) == 1
    numbers = read_table(folder / "my.csv", "class", missing="impute", ignore=["colour"])
    np.savez(folder / "my.npz", X=frame[["number"]].to_numpy(), y=frame["class"].tolist())
    assert read_table(folder / "my.npz", "y", missing="impute").sha256 == numbers.sha256


def test_the_hash_is_of_shape_numbers_and_classes() -> None:
    X = np.arange(6.0).reshape(3, 2)
    classes = np.array([0, 1, 0])
    table = Table(X, ("a", "b"), classes)
    same = Table(X.copy(order="F"), ("c", "d"), classes.copy(), ("p", "q"), ("so",))
    assert table.sha256 == same.sha256
    others = [
        Table(X.reshape(2, 3), ("a", "b", "c"), classes[:2]),
        Table(X, ("a", "b")),
        Table(X, ("a", "b"), classes[::-1].copy() + 1),
        Table(np.nextafter(X, 9), ("a", "b"), classes),
    ]
    assert len({table.sha256, *(other.sha256 for other in others)}) == 5


def test_parquet_types(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "flag": [True, False, True],
            "kind": pd.Categorical(["u", "v", "u"]),
            "when": pd.to_datetime(["2020-01-01"] * 3),
        }
    )
    path = tmp_path / "my.parquet"
    frame.to_parquet(path)
    assert ": column 'when' is of type timestamp" in refused(path)
    table = read_table(path, missing="impute", ignore=["when"])
    assert table.features == ("whole", "flag=False", "flag=True", "kind=u", "kind=v")
    assert table.X[:, 0].tolist() == [1, 2, 3]


def test_npz_files_need_a_matrix(tmp_path: Path) -> None:
    path = tmp_path / "my.npz"
    np.savez(path, Y=[1, 2])
    assert refused(path) == ": has no array 'X', only: Y."
    np.savez(path, X=[1, 2])
    assert "has 1 dimensions, not 2" in refused(path)
    np.savez(path, X=[[1j]])
    assert "holds complex128" in refused(path)
    np.savez(path, X=[[1.0], [np.nan]], feature_names=["size"])
    assert "row 2, column 'size'" in refused(path)
    np.savez(path, X=[[1.0], [2.0]], y=["a"])
    assert "its array 'y' has 1 rows, X has 2" in refused(path, "y")
    np.savez(path, X=[[1.0], [2.0]], feature_names=["a", "b"])
    assert "has 1 columns, but 2 feature_names" in refused(path)
    with path.open("wb") as file:
        np.save(file, np.eye(2))
    assert "is a single array" in refused(path)
