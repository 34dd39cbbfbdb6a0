"""Encode columns as a matrix: one-hot categories as in the paper, without constant columns."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.agreement import NO_CLASS
from pipeline.core.types import FloatArray, IntArray
from pipeline.datasets.tables.cells import is_number_or_missing
from pipeline.datasets.tables.cleaning import (
    IMPUTE,
    imputed,
    notices_of,
    refuse_missing,
    refuse_unusable,
)
from pipeline.datasets.tables.columns import MOST_CATEGORIES, Column, Columns, refuse_too_large

#: Ways in which users can treat missing values.
ON_MISSING = ("refuse", IMPUTE)

#: The categories of some columns in a given order, by the column's name.
Orders = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Encoded:
    """A matrix, the names of its columns, and notices of what was dropped or imputed."""

    X: FloatArray
    features: tuple[str, ...]
    notices: tuple[str, ...]


def encode(
    table: Columns, columns: Iterable[Column], missing: str, orders: Orders | None = None
) -> Encoded:
    """Encode columns as a matrix.

    Parameters
    ----------
    table : Columns
        The table that the columns belong to.
    columns : iterable of Column
        The features.
    missing : {"refuse", "impute", "impute median"}
        Refuse missing values, or replace them by the mean or the median of a column of numbers and
        by the most frequent category.
    orders : mapping of str to sequence of str, optional
        All categories of some columns, in order. Other categories are sorted.

    Returns
    -------
    Encoded
        A column of t categories becomes t columns of 0 and 1. Constant columns are dropped.

    Raises
    ------
    TableError
        If values are missing or infinite, a column identifies rows, or nothing is left.

    Examples
    --------
    >>> colour = Column("colour", np.array([1, 0, 1]), ("red", "blue"))
    >>> made = encode(Columns("my.csv", {}, (), 3), [colour], "refuse")
    >>> made.features, made.X.tolist()
    (('colour=blue', 'colour=red'), [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]])
    """
    ordered = [_in_order(table, column, orders or {}) for column in columns]
    for column in ordered:
        refuse_unusable(table, column)
    if missing == "refuse":
        refuse_missing(table, ordered)
    some = (imputed(column, missing) for column in ordered if not column.missing.all())
    features = [feature for column in some for feature in _features(column)]
    varying = [feature for feature in features if feature.varies]
    if not varying:
        raise table.error(
            "all columns are constant or empty, so nothing can be clustered. Give columns that "
            "vary."
        )
    constant = [feature.name for feature in features if not feature.varies]
    return Encoded(
        _matrix(table, varying),
        tuple(feature.name for feature in varying),
        tuple(notices_of(table, ordered, constant, missing)),
    )


def encode_classes(table: Columns, label: Column) -> tuple[IntArray, tuple[str, ...]]:
    """Return the class of each row as a number, and the names of the classes, sorted.

    The class of noise points is `NO_CLASS`.

    Examples
    --------
    >>> label = Column("species", np.array([1, 0, 1]), ("b", "a"))
    >>> encode_classes(Columns("my.csv", {}, (), 3), label)
    (array([0, 1, 0]), ('a', 'b'))
    >>> label = Column("labels0", np.array([1, 0, 2]), ("0", "1", "2"), noise="0")
    >>> encode_classes(Columns("my.data", {}, (), 3), label)
    (array([ 0, -1,  1]), ('1', '2'))
    """
    ordered = _in_order(table, label, {})
    names = tuple(name for name in ordered.categories or () if name != label.noise)
    if len(names) > MOST_CATEGORIES:
        raise table.error(
            f"the label {label.name!r} has more than {MOST_CATEGORIES} classes. Choose a column "
            "of classes."
        )
    if ordered.missing.any():
        cells = table.cells({label.name: ordered.missing})
        raise table.error(f"the label is missing in {cells}. Fill it in, or remove these rows.")
    if len(names) < 2:
        only = f"one class only, {names[0]!r}" if names else "noise points only"
        raise table.error(f"the label {label.name!r} has {only}. Choose another label, or none.")
    places = {name: place for place, name in enumerate(names)}
    codes = [places.get(name, NO_CLASS) for name in ordered.categories or ()]
    return np.array(codes, dtype=np.int64)[ordered.values], names


@dataclass(frozen=True, eq=False)
class _Feature:
    """A column of the matrix: numbers, or the indicator of one category."""

    name: str
    column: Column
    code: int | None = None

    @property
    def values(self) -> NDArray[Any]:
        values = self.column.values
        return values if self.code is None else np.asarray(values == self.code)

    @property
    def varies(self) -> bool:
        values = self.values
        return bool((values != values[0]).any())


def _features(column: Column) -> list[_Feature]:
    if column.categories is None:
        return [_Feature(column.name, column)]
    return [
        _Feature(f"{column.name}={category}", column, code)
        for code, category in enumerate(column.categories)
    ]


def _matrix(table: Columns, features: Sequence[_Feature]) -> FloatArray:
    refuse_too_large(table.source, table.rows, len(features))
    X = np.empty((table.rows, len(features)))
    for place, feature in enumerate(features):
        X[:, place] = feature.values
    X += 0.0  # -0 becomes 0, so that equal tables have equal bits
    return X


def _in_order(table: Columns, column: Column, orders: Orders) -> Column:
    """Sort the categories of a column, and merge numbers that are written in two ways."""
    if column.categories is None:
        return column
    numbers = all(map(is_number_or_missing, column.categories))
    names = [_whole(name) if numbers else name for name in column.categories]
    order = orders.get(column.name) or sorted(set(names), key=float if numbers else str)
    unknown = set(names).difference(order)
    if unknown:
        raise table.error(
            f"column {column.name!r} has the unknown category {min(unknown)!r}. "
            f"Known: {', '.join(order)}."
        )
    seen = tuple(name for name in order if name in names)
    # The last entry maps the code -1 of missing values to itself
    moved = np.array([*map(seen.index, names), -1], dtype=np.int32)
    return replace(column, values=moved[column.values], categories=seen)


def _whole(number: str) -> str:
    """Return 1 for the categories 1. and 1.0; .0 stays .0."""
    return re.sub(r"(?<=\d)\.0*$", "", number)
