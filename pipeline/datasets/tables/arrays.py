"""Columns from arrays, one array per column."""

from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.cells import MISSING
from pipeline.datasets.tables.columns import MOST_CATEGORIES, NO_CATEGORY, Column, Columns
from pipeline.errors import TableError


def columns_from_arrays(
    source: str,
    names: Iterable[str],
    rows: int,
    arrays: Iterable[tuple[str, NDArray[Any]]],
    texts: Collection[str],
) -> Columns:
    """Return the columns of the given arrays.

    Parameters
    ----------
    source : str
        The file or the name of the data, for error messages.
    names : iterable of str
        Names of all columns, used or not.
    rows : int
        Length of every array.
    arrays : iterable of (str, ndarray)
        The columns that are used: numbers with NaN, or texts with None, for missing values.
    texts : collection of str
        Columns to read as text even if they are numbers.

    Examples
    --------
    >>> arrays = [("size", np.array([1.5, 2.5])), ("colour", np.array(["red", "blue"]))]
    >>> read = columns_from_arrays("mine", ["size", "colour"], 2, arrays, texts=[])
    >>> read.columns["size"].values.tolist(), read.columns["colour"].categories
    ([1.5, 2.5], ('red', 'blue'))
    """
    if not rows:
        raise TableError(source, "has no rows of data. Give a table with rows.")
    columns = {name: _column(source, name, values, name in texts) for name, values in arrays}
    return Columns(source, columns, tuple(names), rows)


def _column(source: str, name: str, values: NDArray[Any], as_text: bool) -> Column:
    if values.dtype.kind in "fiu" and not as_text:
        return Column(name, values.astype(np.float64))
    if values.dtype.kind not in "fiubUSOT":
        raise TableError(source, f"{name!r} holds {values.dtype}. Give numbers or text.")
    known: dict[str, int] = {}
    codes = np.full(len(values), NO_CATEGORY, dtype=np.int32)
    for row, value in enumerate(values.tolist()):
        text = _text(value)
        if text not in MISSING and len(known) <= MOST_CATEGORIES:
            codes[row] = known.setdefault(text, len(known))
    return Column(name, codes, tuple(known))


def _text(value: Any) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))  # in a column of numbers with gaps the class 3 is 3.0
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value).strip()
