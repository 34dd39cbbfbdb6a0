"""A user's table, encoded and ready to be clustered; from a file or from data in memory."""

import hashlib
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from pipeline.core.agreement import NO_CLASS
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_choice
from pipeline.datasets.tables.columns import Columns, default_names
from pipeline.datasets.tables.encoding import ON_MISSING, Orders, encode, encode_classes
from pipeline.datasets.tables.in_memory import columns_in_memory
from pipeline.datasets.tables.kinds import read_columns
from pipeline.errors import TableError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Table:
    """A data set: numbers without gaps, and its classes if they are known.

    Attributes
    ----------
    X : ndarray of float64, shape (n, m)
        Entities in rows, not normalised.
    features : tuple of str
        Names of the columns of `X`; ``feature=value`` for a category.
    classes : ndarray of int64, shape (n,), or None
        Indices into `class_names`. None for data without labels. Noise points have no class: -1.
        They are clustered, but left out where labels are compared with classes.
    class_names : tuple of str
        Sorted. Empty without labels.
    notices : tuple of str
        What was dropped or imputed when the table was encoded.
    """

    X: FloatArray
    features: tuple[str, ...]
    classes: IntArray | None = None
    class_names: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    @property
    def class_count(self) -> int | None:
        """Number of classes, without noise points. None without labels."""
        if self.classes is None:
            return None
        return len(np.unique(self.classes[self.classes != NO_CLASS]))

    @cached_property
    def sha256(self) -> str:
        """SHA-256 of shape, numbers and classes, but not of names, as 64 hexadecimal digits.

        The hashed bytes are the line ``n m`` (``n m labelled`` with classes) with its line end,
        then `X` by rows as little-endian float64, then `classes` as little-endian int64.
        """
        labelled = "" if self.classes is None else " labelled"
        digest = hashlib.sha256(f"{len(self.X)} {self.X.shape[1]}{labelled}\n".encode())
        digest.update(np.ascontiguousarray(self.X, dtype="<f8").data)
        if self.classes is not None:
            digest.update(np.ascontiguousarray(self.classes, dtype="<i8").data)
        return digest.hexdigest()


#: Tables by their hash, as specs refer to them.
Tables = Mapping[str, Table]


def read_table(
    path: str | PathLike[str],
    label: str | None = None,
    *,
    missing: str = "refuse",
    ignore: Collection[str] = (),
    categorical: Collection[str] = (),
    header: bool = True,
) -> Table:
    r"""Read a table from a file: CSV, TSV, ARFF, Parquet, ``.npz``, ``.mat`` or ``.data``.

    Parameters
    ----------
    path : path
        The ending gives the kind of file. Files of text are UTF-8, and may be packed by gzip, as
        ``my.csv.gz``. An ``.npz`` file has a matrix ``X`` and may have ``feature_names`` and
        labels, a ``.mat`` file a matrix ``X`` or ``Data``. A ``.data`` file has numbers that are
        separated by white space, without a header.
    label : str, optional
        Name of the column with the classes. In ``.npz`` and ``.mat`` files it may also be another
        array; for a ``.data`` file it is a file beside it: ``labels0`` for ``my.labels0``. There,
        class 0 stands for noise points.
    missing : {"refuse", "impute"}
        Refuse missing values, or replace them by the mean of a column of numbers and by the most
        frequent category. Empty cells are missing, and so are ``?``, ``NA``, ``N/A``, ``NaN``,
        ``nan``, ``null`` and ``NULL``.
    ignore : collection of str
        Columns to leave out, such as identifiers.
    categorical : collection of str
        Columns to treat as categories although they look like numbers. Columns of text always
        are categories.
    header : bool
        Whether the first line of a CSV or TSV file has the names of the columns. Without a
        header, they are x1, x2 and so on.

    Returns
    -------
    Table
        A column of t categories becomes t columns of 0 and 1, sorted. Constant columns are
        dropped.

    Raises
    ------
    TableError
        If the file is not a usable table. The message has the file and the line, and says what to
        do.

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
    read = partial(read_columns, Path(path), header)
    return _encoded(read, label, missing, ignore, categorical)


def make_table(
    data: Union["DataFrame", "ArrayLike", Table],
    label: Union[Hashable, "ArrayLike", None] = None,
    *,
    name: str = "table",
    missing: str = "refuse",
    ignore: Collection[Hashable] = (),
    categorical: Collection[Hashable] = (),
) -> Table:
    """Make a table of data in memory, encoded in the same way as a file of these data.

    Parameters
    ----------
    data : DataFrame, array-like of shape (n, m), or Table
        Columns of an array or a nested list are named x1, x2 and so on. The index of a DataFrame
        is not used. A `Table` is returned as it is.
    label : str, or array-like of shape (n,), optional
        Name of the column with the classes. A column that is named by a number may be given by
        the number. Or the class of each row, as scikit-learn's ``y``.
    name : str
        Name of the data, for error messages.
    missing, ignore, categorical
        As for `read_table`. None and NaN are missing values, too. Columns of pandas' type
        category are categories.

    Returns
    -------
    Table
        As for `read_table`.

    Raises
    ------
    TableError
        If the data are not a usable table. The message has the name and the cell, and says what
        to do.

    Examples
    --------
    >>> table = make_table([[1.5, "red", "a"], [2.5, "blue", "b"]], label="x3")
    >>> table.features, table.class_names
    (('x1', 'x2=blue', 'x2=red'), ('a', 'b'))
    >>> make_table([[1.5], [2.5], [9.0]], ["b", "a", "b"]).classes.tolist()
    [1, 0, 1]
    """
    if isinstance(data, Table):
        if label is not None or ignore or categorical:
            raise TableError(
                name, "is a Table already. Give label, ignore and categorical where it is made."
            )
        return data
    read = partial(columns_in_memory, data, name)
    others = missing, list(map(str, ignore)), list(map(str, categorical))
    # A tuple is the name of a column of a DataFrame with several levels of names.
    if hasattr(label, "__len__") and not isinstance(label, str | bytes | tuple):
        table = _encoded(read, None, *others)
        classes, names = _given_classes(label, name, len(table.X))
        return replace(table, classes=classes, class_names=names)
    return _encoded(read, None if label is None else str(label), *others)


def _given_classes(label: Any, name: str, rows: int) -> tuple[IntArray, tuple[str, ...]]:
    """Return the classes of an array-like as numbers, and their names."""
    source = f"{name}, label"
    if len(label) != rows:
        raise TableError(
            source,
            f"has {len(label):,} classes for {rows:,} rows. Give one class for each row, or "
            "the name of a column.",
        )
    (column,) = default_names(1)
    read = columns_in_memory([[each] for each in label], source, [column], [])
    return encode_classes(read, replace(read.columns[column], name="label"))


def _encoded(
    read: Callable[[Collection[str], Collection[str]], Columns],
    label: str | None,
    missing: str,
    ignore: Collection[str],
    categorical: Collection[str],
) -> Table:
    as_choice(missing, "way to treat missing values", ON_MISSING)
    labels = [] if label is None else [label]
    columns = read({*categorical, *labels}, set(ignore))
    for name in (*labels, *categorical, *ignore):
        _refuse_unknown(columns, name)
    return encode_table(columns, label, missing)


def encode_table(
    columns: Columns, label: str | None, missing: str, orders: Orders | None = None
) -> Table:
    """Return the table of some columns, one of which may be the label; see `encode`."""
    features = [column for name, column in columns.columns.items() if name != label]
    if not features:
        raise columns.error("has no columns to cluster by. Give at least one feature.")
    made = encode(columns, features, missing, orders)
    if label is None:
        return Table(made.X, made.features, notices=made.notices)
    if label not in columns.columns:
        raise columns.error(f"the label {label!r} cannot be ignored. Leave out the label instead.")
    classes, names = encode_classes(columns, columns.columns[label])
    return Table(made.X, made.features, classes, names, (*made.notices, *_noise(classes)))


def _noise(classes: IntArray) -> Iterator[str]:
    """Yield a notice if there are noise points."""
    if count := int((classes == NO_CLASS).sum()):
        yield f"noise points are clustered, but left out of the ARI, {count:,} in all"


def _refuse_unknown(columns: Columns, name: str) -> None:
    try:
        as_choice(name, "column", columns.names)
    except ValueError as error:
        raise columns.error(str(error)) from None
