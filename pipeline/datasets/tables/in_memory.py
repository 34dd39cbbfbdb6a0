"""Columns of data in memory: a pandas DataFrame, an array or a nested list."""

import sys
from collections.abc import Callable, Collection
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.arrays import columns_from_arrays
from pipeline.datasets.tables.columns import (
    Columns,
    default_names,
    refuse_repeated,
    refuse_too_large,
)
from pipeline.errors import TableError


def columns_in_memory(
    data: Any, source: str, texts: Collection[str], ignore: Collection[str]
) -> Columns:
    """Return the columns of a DataFrame, an array or a nested list.

    Parameters
    ----------
    data : DataFrame or array-like, shape (n, m)
        Columns of an array or a list are named x1, x2 and so on. The index of a DataFrame is not
        used.
    source : str
        The name of the data, for error messages.
    texts, ignore : collection of str
        Columns to read as text even if they are numbers, and columns not to read.

    Examples
    --------
    >>> read = columns_in_memory([[1.5, "red"], [None, "blue"]], "mine", texts=[], ignore=[])
    >>> read.columns["x1"].values.tolist(), read.columns["x2"].categories
    ([1.5, nan], ('red', 'blue'))
    """
    names, rows, values = _frame(data) if _is_frame(data) else _array(data, source)
    refuse_repeated(source, names)
    used = [(place, name) for place, name in enumerate(names) if name not in ignore]
    refuse_too_large(source, rows, len(used))
    arrays = ((name, _typed(source, name, values(place))) for place, name in used)
    return columns_from_arrays(source, names, rows, arrays, {*texts, *_categoricals(data)})


#: The names of the columns, the number of rows, and a function that returns a column by its index.
_Parts = tuple[list[str], int, Callable[[int], NDArray[Any]]]


def _is_frame(data: Any) -> bool:
    pandas = sys.modules.get("pandas")  # without it, nothing can be a DataFrame
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _frame(frame: Any) -> _Parts:
    def values(place: int) -> NDArray[Any]:
        return _series_values(frame.iloc[:, place])

    return list(map(str, frame.columns)), len(frame), values


def _series_values(series: Any) -> NDArray[Any]:
    if isinstance(series.dtype, np.dtype) and series.dtype.kind != "O":
        return np.asarray(series)
    values = np.array(series, dtype=object)
    values[series.isna().to_numpy()] = None
    return values


def _categoricals(data: Any) -> list[str]:
    """Return the names of pandas' category columns, which are categories even of numbers."""
    return list(map(str, data.select_dtypes("category").columns)) if _is_frame(data) else []


def _array(data: Any, source: str) -> _Parts:
    array = _as_array(data, source)
    if array.ndim != 2:
        raise TableError(
            source,
            f"must have two dimensions, got {type(data).__name__} with {array.ndim}. Give a Table, "
            "a DataFrame, or an array or list of rows of equal length. Read files with read_table.",
        )
    rows, width = array.shape
    return default_names(width), rows, lambda place: array[:, place]


def _as_array(data: Any, source: str) -> NDArray[Any]:
    try:
        if np.ma.isMaskedArray(data):
            return np.asarray(np.ma.filled(data.astype(object), None))
        # NumPy would turn the numbers of a mixed list into texts
        return np.asarray(data, dtype=object if isinstance(data, list | tuple) else None)
    except (TypeError, ValueError) as error:
        raise TableError(
            source, f"cannot be converted to an array: {error}. Give rows of equal length."
        ) from error


def _typed(source: str, name: str, values: NDArray[Any]) -> NDArray[Any]:
    """Return objects as numbers if all of them are numbers, otherwise unchanged."""
    if values.dtype != object:
        return values
    items = [None if _is_nan(item) else item for item in values.tolist()]
    given = [item for item in items if item is not None]
    for item in given:
        if not isinstance(item, str | bytes | bool | np.bool_ | Real | Decimal):
            raise TableError(
                source,
                f"column {name!r} holds {type(item).__name__} values. Ignore it, or convert it to "
                "numbers or text.",
            )
    if any(isinstance(item, str | bytes | bool | np.bool_) for item in given):
        return np.array(items, dtype=object)
    return np.array([_as_float(item) for item in items], dtype=np.float64)


def _is_nan(item: Any) -> bool:
    return isinstance(item, Real | Decimal) and item != item


def _as_float(item: Any) -> float:
    try:
        return np.nan if item is None else float(item)
    except OverflowError:  # refused later, with the cell named
        return np.inf
