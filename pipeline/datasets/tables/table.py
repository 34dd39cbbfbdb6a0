"""A user's table: read from a file, encoded and checked, ready to be clustered."""

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path

import numpy as np

from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_choice
from pipeline.datasets.tables.columnar import read_npz, read_parquet
from pipeline.datasets.tables.columns import Columns
from pipeline.datasets.tables.delimited import read_delimited
from pipeline.datasets.tables.encoding import ON_MISSING, Orders, encode, encode_classes
from pipeline.errors import TableError

#: By the ending of a file's name.
SEPARATORS = {".csv": ",", ".tsv": "\t"}
ENDINGS = (*SEPARATORS, ".parquet", ".npz")


@dataclass(frozen=True, eq=False)
class Table:
    """A data set: numbers without gaps, and what is known of its classes.

    Attributes
    ----------
    X : ndarray of float64, shape (n, m)
        Entities in rows, not normalised.
    features : tuple of str
        Names of the columns of `X`; ``feature=value`` for a category.
    classes : ndarray of int64, shape (n,), or None
        Places in `class_names`; None for data without labels.
    class_names : tuple of str
        Sorted; empty without labels.
    notices : tuple of str
        What was dropped or imputed on the way, in words.
    """

    X: FloatArray
    features: tuple[str, ...]
    classes: IntArray | None = None
    class_names: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def class_count(self) -> int | None:
        """How many classes there are; None without labels."""
        return None if self.classes is None else len(np.unique(self.classes))

    @cached_property
    def sha256(self) -> str:
        """What decides results, and no name: shape, numbers and classes, as 64 hexadecimal digits.

        That of the line ``n m`` (``n m labelled`` with classes) and its line end, then of `X` by
        rows as little-endian float64, then of `classes` as little-endian int64.
        """
        labelled = "" if self.classes is None else " labelled"
        digest = hashlib.sha256(f"{len(self.X)} {self.X.shape[1]}{labelled}\n".encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").data)
        if self.classes is not None:
            digest.update(np.ascontiguousarray(self.classes, dtype="<i8").data)
        return digest.hexdigest()


#: Data by their hash, as specs know them.
Tables = Mapping[str, Table]


def read_table(
    path: str | PathLike[str],
    label: str | None = None,
    *,
    missing: str = "refuse",
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
) -> Table:
    r"""Read a table from a CSV, TSV, Parquet or ``.npz`` file.

    Parameters
    ----------
    path : path
        The kind of file is known by its ending. A CSV or TSV file is UTF-8 and has a header; an
        ``.npz`` file has a matrix ``X`` and may have ``feature_names`` and labels.
    label : str, optional
        Name of the column (in an ``.npz`` file also: array) with the classes.
    missing : {"refuse", "impute"}
        Refuse missing values, or put the mean of a column of numbers, and the most frequent
        category, in their place. Empty cells are missing, and so are ``?``, ``NA``, ``N/A``,
        ``NaN``, ``nan``, ``null`` and ``NULL``.
    ignore : collection of str
        Columns to leave out, such as identifiers.
    categorical : collection of str
        Columns that are categories though they look like numbers; columns of text always are.

    Returns
    -------
    Table
        A column of t categories became t columns of 0 and 1, sorted; constant columns are dropped.

    Raises
    ------
    TableError
        If the file is no usable table; the message has file, line and what to do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.csv"
    ...     _ = path.write_text("size,colour,species\n1.5,red,a\n2.5,blue,b\n")
    ...     table = read_table(path, label="species")
    >>> table.features, table.X.tolist()
    (('size', 'colour=blue', 'colour=red'), [[1.5, 0.0, 1.0], [2.5, 1.0, 0.0]])
    >>> table.classes.tolist(), table.class_names
    ([0, 1], ('a', 'b'))
    """
    as_choice(missing, "way to treat missing values", ON_MISSING)
    labels = [] if label is None else [label]
    columns = _read(Path(path), {*categorical, *labels}, set(ignore))
    for name in (*labels, *categorical, *ignore):
        _refuse_unknown(columns, name)
    return encode_table(columns, label, missing)


def encode_table(
    columns: Columns, label: str | None, missing: str, orders: Orders | None = None
) -> Table:
    """Make a table of columns, one of which may be the label; as `encode` does."""
    features = [column for name, column in columns.columns.items() if name != label]
    if not features:
        raise columns.error("has no columns to cluster by. Give some features.")
    made = encode(columns, features, missing, orders)
    if label is None:
        return Table(made.X, made.features, notices=made.notices)
    if label not in columns.columns:
        raise columns.error(f"the label {label!r} cannot be ignored. Give no label instead.")
    classes, names = encode_classes(columns, columns.columns[label])
    return Table(made.X, made.features, classes, names, made.notices)


def _read(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    ending = path.suffix.lower()
    if "\0" in str(path):
        raise TableError(repr(str(path)), "has a null character in its name. Correct it.")
    if ending in SEPARATORS:
        return read_delimited(
            str(path), lambda: path.open("rb"), SEPARATORS[ending], texts=texts, ignore=ignore
        )
    if ending == ".npz":
        return read_npz(path, texts, ignore)
    if ending == ".parquet":
        return read_parquet(path, texts, ignore)
    raise TableError(
        str(path), f"is of no known kind. Give a file that ends in {', '.join(ENDINGS)}."
    )


def _refuse_unknown(columns: Columns, name: str) -> None:
    try:
        as_choice(name, "column", columns.names)
    except ValueError as error:
        raise columns.error(str(error)) from None
