"""Columns to a matrix: categories one-hot as in the paper, constant columns dropped."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.types import FloatArray, IntArray
from pipeline.datasets.tables.cleaning import imputed, notices_of, refuse_missing, refuse_unusable
from pipeline.datasets.tables.columns import Column, Columns, refuse_too_large
from pipeline.datasets.tables.delimited import MOST_CATEGORIES, is_number_or_missing

#: What to do with missing values.
ON_MISSING = ("refuse", "impute")

#: Categories of some columns in an order of their own, by the column's name.
Orders = Mapping[str, Sequence[str]]


@dataclass(frozen=True, eq=False)
class Encoded:
    """A matrix, the names of its columns, and what was done to get it, in words."""

    X: FloatArray
    features: tuple[str, ...]
    notices: tuple[str, ...]


def encode(
    table: Columns, columns: Iterable[Column], missing: str, orders: Orders | None = None
) -> Encoded:
    """Make a matrix of columns.

    Parameters
    ----------
    table : Columns
        Where they come from.
    columns : iterable of Column
        Those that are features.
    missing : {"refuse", "impute"}
        Refuse missing values, or put the mean of a column of numbers, and the most frequent
        category, in their place.
    orders : mapping of str to sequence of str, optional
        All categories of some columns, in order; others are sorted.

    Returns
    -------
    Encoded
        A column of t categories became t columns of 0 and 1; constant columns are dropped.

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
    some = (imputed(column) for column in ordered if not column.missing.all())
    features = [feature for column in some for feature in _features(column)]
    varying = [feature for feature in features if feature.varies]
    if not varying:
        raise table.error("no column is left: all are constant or empty. Nothing can be clustered.")
    constant = [feature.name for feature in features if not feature.varies]
    return Encoded(
        _matrix(table, varying),
        tuple(feature.name for feature in varying),
        tuple(notices_of(table, ordered, constant)),
    )


def encode_classes(table: Columns, label: Column) -> tuple[IntArray, tuple[str, ...]]:
    """Return the class of each row as a number, and the names of the classes, sorted.

    Examples
    --------
    >>> label = Column("species", np.array([1, 0, 1]), ("b", "a"))
    >>> encode_classes(Columns("my.csv", {}, (), 3), label)
    (array([0, 1, 0]), ('a', 'b'))
    """
    ordered = _in_order(table, label, {})
    names = ordered.categories or ()
    if len(names) > MOST_CATEGORIES:
        raise table.error(
            f"the label {label.name!r} has more than {MOST_CATEGORIES} classes. Choose a column "
            "that names classes."
        )
    if ordered.missing.any():
        cells = table.cells({label.name: ordered.missing})
        raise table.error(f"the label is missing in {cells}. Fill in or remove these rows.")
    if len(names) < 2:
        raise table.error(
            f"the label {label.name!r} has one class, {names[0]!r}: nothing can be compared with "
            "it. Choose another label, or none."
        )
    return ordered.values.astype(np.int64), names


@dataclass(frozen=True, eq=False)
class _Feature:
    """A column of the matrix: numbers, or where a column has one of its categories."""

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
    X += 0.0  # -0 becomes 0: equal tables have equal bits
    return X


def _in_order(table: Columns, column: Column, orders: Orders) -> Column:
    """Put the categories of a column in order; numbers that are written in two ways are one."""
    if column.categories is None:
        return column
    numbers = all(map(is_number_or_missing, column.categories))
    names = [_whole(name) if numbers else name for name in column.categories]
    order = orders.get(column.name) or sorted(set(names), key=float if numbers else str)
    strange = set(names).difference(order)
    if strange:
        raise table.error(
            f"column {column.name!r} has the unknown category {min(strange)!r}. "
            f"Known: {', '.join(order)}."
        )
    seen = tuple(name for name in order if name in names)
    # The last entry serves the code -1 of missing ones
    moved = np.array([*map(seen.index, names), -1], dtype=np.int32)
    return replace(column, values=moved[column.values], categories=seen)


def _whole(number: str) -> str:
    """Return the name 1 for the categories 1. and 1.0; .0 has no other."""
    return re.sub(r"(?<=\d)\.0*$", "", number)
