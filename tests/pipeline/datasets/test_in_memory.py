"""Data in memory are encoded as the same data in a file."""

import re
import subprocess
import sys
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.datasets import Table, make_table, read_table
from pipeline.datasets.tables import columns
from pipeline.errors import TableError
from tests.own_tables import small_table

FRAME = pd.DataFrame(
    {
        "size": [1.5, 2.5, -0.0, 4.0],
        "count": [3, 1, 2, 2],
        "colour": ["red", "blue", "red", "10"],
        "constant": [7, 7, 7, 7],
        "species": [10, 9, 10, 9],
    }
)


def refused(data: Any, label: Any = None, **options: Any) -> str:
    """Return the message for data that are refused, without their name."""
    with pytest.raises(TableError) as caught:
        make_table(data, label, name="mine", **options)
    message = str(caught.value)
    assert message.startswith("mine")
    return message.removeprefix("mine")


def assert_same_table(one: Table, other: Table) -> None:
    assert one.sha256 == other.sha256
    assert one.features == other.features
    assert one.class_names == other.class_names


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_frame_is_encoded_as_its_file(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"my.{ending}"
    FRAME.to_csv(path, index=False) if ending == "csv" else FRAME.to_parquet(path)
    table = make_table(FRAME, "species")
    assert_same_table(table, read_table(path, "species"))
    assert table.features == ("size", "count", "colour=10", "colour=blue", "colour=red")
    assert table.class_names == ("9", "10")
    assert table.notices == ("constant columns were dropped, 1 in all: 'constant'",)


frames = st.lists(
    st.tuples(
        st.floats(allow_nan=False, allow_infinity=False) | st.none(),
        st.sampled_from(["red", "blue", "", "?", "x,y", None]),
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


@given(rows=frames)
def test_frames_lists_and_files_give_the_same_table(
    rows: list[tuple[float | None, str | None, str]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "frame.csv"
    names = ["x1", "x2", "x3"]
    frame = pd.DataFrame(rows, columns=names)
    frame.to_csv(path, index=False)
    expected = read_table(path, "x3", missing="impute")
    numbers = frame.assign(x1=frame["x1"].astype("float64"))
    for data in (
        frame.astype(object),
        numbers,
        numbers.convert_dtypes(),
        numbers.set_index("x3", drop=False),
        rows,
        np.array(rows, dtype=object),
    ):
        assert_same_table(make_table(data, "x3", missing="impute"), expected)


def test_options_are_those_of_files(tmp_path: Path) -> None:
    path = tmp_path / "my.csv"
    FRAME.to_csv(path, index=False)
    options: dict[str, Any] = {"ignore": ["size"], "categorical": ["count"]}
    table = make_table(FRAME, "species", **options)
    assert_same_table(table, read_table(path, "species", **options))
    assert "count=1" in table.features
    assert "size" not in table.features


def test_columns_may_be_named_by_numbers() -> None:
    frame = FRAME.set_axis(range(5), axis=1)
    table = make_table(frame, 4, ignore=[0], categorical=[1])
    assert_same_table(table, make_table(frame, "4", ignore=["0"], categorical=["1"]))
    assert table.features[:2] == ("1=1", "1=2")
    assert table.class_names == ("9", "10")


def test_columns_of_an_array_are_numbered() -> None:
    X = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 9.0]])
    table = make_table(X)
    assert table.features == ("x1", "x2")
    np.testing.assert_array_equal(table.X, X)
    assert table.classes is None
    assert make_table(X.astype(np.float32)).sha256 == table.sha256
    assert make_table(X.astype(int)).sha256 == make_table(X.tolist()).sha256 == table.sha256


TYPES = {
    "Int64": pd.array([1, None, 3], dtype="Int64"),
    "Float64": pd.array([1.0, None, 3.0], dtype="Float64"),
    "object": [1, pd.NA, 3.0],
    "decimal": [Decimal(1), None, Decimal(3)],
}


@pytest.mark.parametrize("kind", TYPES)
def test_numbers_of_all_types_may_be_missing(kind: str) -> None:
    frame = pd.DataFrame({"a": pd.Series(TYPES[kind]), "b": [1, 2, 3]})
    assert make_table(frame, missing="impute").X[:, 0].tolist() == [1, 2, 3]
    assert refused(frame).startswith(": values are missing in row 2, column 'a'. Fill them in")


def test_text_and_flags_are_categories() -> None:
    frame = pd.DataFrame(
        {
            "flag": [True, False, True],
            "maybe": pd.array([True, None, False], dtype="boolean"),
            "kind": pd.Categorical([10, 9, 10]),
            "text": pd.array(["1", "2", "1"], dtype="string"),
            "bytes": [b"u", b"v", b"u"],
        }
    )
    assert make_table(frame, missing="impute").features == (
        "flag=False",
        "flag=True",
        "maybe=False",
        "maybe=True",
        "kind=9",
        "kind=10",
        "text=1",
        "text=2",
        "bytes=u",
        "bytes=v",
    )


def test_masked_values_are_missing() -> None:
    X = np.ma.array([[1.0, 2.0], [3.0, 4.0]], mask=[[False, False], [True, False]])
    assert "row 2, column 'x1'" in refused(X)


REFUSED: dict[str, tuple[Any, str]] = {
    "path": ("my.csv", ": must have two dimensions, got str with 0. Give a Table, a DataFrame"),
    "vector": (np.arange(3), ": must have two dimensions, got ndarray with 1."),
    "column": (FRAME["size"], ": must have two dimensions, got Series with 1."),
    "ragged": ([[1, 2], [3]], ": must have two dimensions, got list with 1."),
    "nothing": (None, ": must have two dimensions, got NoneType with 0."),
    "no rows": (FRAME.iloc[:0], ": has no rows of data"),
    "no columns": (FRAME[[]], ": has no columns to cluster by"),
    "empty": ([], ": must have two dimensions, got list with 1."),
    "constant": ([[1.0], [1.0]], ": all columns are constant or empty"),
    "infinite": ([[1.0], [np.inf]], ": numbers are infinite or too large in row 2, column 'x1'"),
    "too large": ([[1], [10**400]], ": numbers are infinite or too large in row 2, column 'x1'"),
    "complex": (np.eye(2) * 1j, ": 'x1' holds complex128. Give numbers or text."),
    "shapes": ([[1, [2]], np.eye(2)], ": cannot be converted to an array"),
    "dates": (
        pd.DataFrame({"when": pd.to_datetime(["2020-01-01", "2021-01-01"])}),
        ": 'when' holds datetime64",
    ),
    "objects": ([[date(2020, 1, 1)], [1]], ": column 'x1' holds date values. Ignore it, or"),
    "names": (pd.DataFrame([[1, 2]], columns=["a", "a"]), ": two columns have the name 'a'"),
    "identifiers": (
        pd.DataFrame({"id": [f"row {row}" for row in range(200)]}),
        ": column 'id' has more than 100 different values in 200 rows that are not numbers. If it "
        "identifies rows, ignore it: ignore = ['id'].",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_unusable_data_are_refused_with_their_name(case: str) -> None:
    data, message = REFUSED[case]
    assert refused(data).startswith(message)


def test_ignored_columns_are_not_checked() -> None:
    frame = FRAME.assign(when=pd.to_datetime(["2020-01-01"] * 4), id=["a", "b", "c", "d"])
    table = make_table(frame, "species", ignore=["when", "id"])
    assert_same_table(table, make_table(FRAME, "species"))


def test_an_unknown_column_is_refused() -> None:
    assert refused(FRAME, "specis").startswith(": Unknown column 'specis'. Did you mean 'species'?")
    assert refused(FRAME, ignore=["sise"]).startswith(": Unknown column 'sise'.")
    assert refused(FRAME, ["species"]).startswith(", label: has 1 classes for 4 rows.")


def test_large_data_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columns, "MOST_ROWS", 3)
    assert refused(FRAME).startswith(": has more than 3 rows")


def test_a_table_is_returned_unless_it_would_have_to_be_encoded_again() -> None:
    table = small_table()
    assert make_table(table) is table
    assert refused(table, "species").startswith(": is a Table already. Give label")


def test_arrays_are_encoded_without_pandas() -> None:
    script = (
        "import sys; from pipeline import make_table; make_table([[1, 'a'], [2, 'b']]);"
        "print('pandas' in sys.modules)"
    )
    child = subprocess.run(
        [sys.executable, "-c", script], check=True, capture_output=True, text=True
    )
    assert child.stdout == "False\n"


@pytest.mark.parametrize(
    "y", [[10, 9, 10, 9], np.array([10, 9, 10, 9]), FRAME["species"], FRAME["species"][::1].array]
)
def test_classes_may_be_an_array_beside_the_data(y: Any) -> None:
    features = FRAME.drop(columns="species")
    made, expected = make_table(features, y), make_table(FRAME, "species")
    assert (made.sha256, made.class_names) == (expected.sha256, expected.class_names)
    assert made.class_names == ("9", "10")


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (
            [1, 2, 1],
            "3 classes for 4 rows. Give one class for each row, or the name of a column.",
        ),
        (["a"] * 4, "has one class only, 'a'"),
        (["a", None, "b", "a"], "the label is missing in"),
        (np.ones((4, 2)), "must have two dimensions"),
    ],
)
def test_classes_that_do_not_fit_are_explained(y: Any, words: str) -> None:
    with pytest.raises(TableError, match=re.escape(words)) as found:
        make_table(FRAME.drop(columns="species"), y, name="mine")
    assert len(str(found.value)) < 200
    assert "mine, label: " in str(found.value)
