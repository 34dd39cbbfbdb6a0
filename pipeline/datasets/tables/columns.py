"""Columns of a table before they are encoded, and the limits of its size."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.types import IntArray
from pipeline.errors import TableError

#: On a million rows imwk-means takes minutes per exponent. More rows need more than one machine.
MOST_ROWS = 1_000_000
#: Before and after categories have become columns of their own.
MOST_COLUMNS = 10_000
#: 440 MB of numbers. With its columns in memory too, a table stays below 1 GB. MNIST, the largest
#: set of the usual benchmark batteries, has 70,000 rows of 784 columns, just below it.
MOST_CELLS = 55_000_000
#: A text column with more distinct values holds identifiers or mistyped numbers, not categories.
MOST_CATEGORIES = 100

#: The code of a missing category.
NO_CATEGORY = -1
#: The number of cells that a message lists.
LISTED = 5


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name in the header.
    values : ndarray
        Numbers, with NaN for missing values; or indices into `categories`, with -1 for missing
        values.
    categories : tuple of str or None
        All distinct texts. None for a column of numbers.
    stray : tuple of (int, str) or None
        Row and text of the first cell that is not a number, if the column begins with numbers.
    noise : str or None
        In a label, the category of noise points, which have no class.
    """

    name: str
    values: NDArray[Any]
    categories: tuple[str, ...] | None = None
    stray: tuple[int, str] | None = None
    noise: str | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing values."""
        return np.asarray(
            np.isnan(self.values) if self.categories is None else self.values == NO_CATEGORY
        )


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a table that are used, and the source of their rows.

    Attributes
    ----------
    source : str
        The file, or the name of data in memory, for error messages.
    columns : dict of str to Column
        By name, in the order of the source.
    names : tuple of str
        Names of all columns, used or not.
    rows : int
        Number of rows.
    lines : ndarray or None
        The line on which each row begins. None if the source has no lines.
    """

    source: str
    columns: dict[str, Column]
    names: tuple[str, ...]
    rows: int
    lines: IntArray | None = None

    def where(self, row: int) -> str:
        """Return the place of a row in the source: its line, or its number from 1."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"

    def cells(self, marked: Mapping[str, NDArray[np.bool_]]) -> str:
        """List the marked cells of some columns; if there are many, only the first.

        Examples
        --------
        >>> Columns("my.npz", {}, (), 3).cells({"age": np.array([True, False, True])})
        "row 1, column 'age'; row 3, column 'age'"
        """
        first = sorted(
            (int(row), name)
            for name, marks in marked.items()
            for row in np.flatnonzero(marks)[:LISTED]
        )[:LISTED]
        cells = [f"{self.where(row)}, column {name!r}" for row, name in first]
        more = sum(int(marks.sum()) for marks in marked.values()) - len(first)
        return "; ".join(cells) + (f"; and {more:,} more" if more else "")

    def refuse_text(self, column: Column) -> None:
        """Refuse a column of text where the format has numbers, and name the first such cell."""
        if column.stray is not None:
            row, text = column.stray
            raise self.error(
                f"{text[:40]!r} in column {column.name!r} is not a number. Correct it.", row
            )

    def error(self, problem: str, row: int | None = None) -> TableError:
        """Return an error about the table or one of its rows."""
        return TableError(self.source, problem, "" if row is None else self.where(row))


def default_names(width: int) -> list[str]:
    """Return the names of columns that have none.

    Examples
    --------
    >>> default_names(3)
    ['x1', 'x2', 'x3']
    """
    return [f"x{number}" for number in range(1, width + 1)]


def refuse_too_large(source: str, rows: int, columns: int) -> None:
    """Refuse a table above the limits."""
    for count, most, what in (
        (rows, MOST_ROWS, "rows"),
        (columns, MOST_COLUMNS, "columns"),
        (rows * columns, MOST_CELLS, "cells"),
    ):
        if count > most:
            raise TableError(
                source,
                f"has more than {most:,} {what}, the maximum for one table. Sample the rows, or "
                "leave out columns.",
            )


def refuse_repeated(source: str, names: Iterable[str], where: str = "") -> None:
    """Refuse two columns with the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problem = f"two columns have the name {name!r}. Rename one of them."
            raise TableError(source, problem, where)
        seen.add(name)
