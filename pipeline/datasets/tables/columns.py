"""Columns as they come from a file, before they are encoded; and what is wrong with them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.types import IntArray
from pipeline.errors import TableError

#: Imwk-means on a million rows takes minutes for each exponent; more is for no single machine.
MOST_ROWS = 1_000_000
#: Before and after categories became columns of their own.
MOST_COLUMNS = 10_000
#: 320 MB of numbers: with its columns beside it a table then stays below 1 GB.
MOST_CELLS = 40_000_000

#: The code of a missing category.
NO_CATEGORY = -1
#: How many of many cells a message lists.
LISTED = 5


@dataclass(frozen=True, eq=False)
class Column:
    """One column of a file.

    Attributes
    ----------
    name : str
        Of the header.
    values : ndarray
        Numbers, NaN where one is missing; or places in `categories`, -1 where one is missing.
    categories : tuple of str or None
        All different texts; None for a column of numbers.
    stray : tuple of (int, str) or None
        Row and text of the first cell that made a column one of text, if it has numbers before.
    """

    name: str
    values: NDArray[Any]
    categories: tuple[str, ...] | None = None
    stray: tuple[int, str] | None = None

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Where nothing is known."""
        return np.asarray(
            np.isnan(self.values) if self.categories is None else self.values == NO_CATEGORY
        )


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns of a file that are wanted, and where their rows came from.

    Attributes
    ----------
    source : str
        The file, for messages.
    columns : dict of str to Column
        By name, in the order of the file.
    names : tuple of str
        Of all columns, wanted or not.
    rows : int
        How many.
    lines : ndarray or None
        The line on which each row begins; None in a file without lines.
    """

    source: str
    columns: dict[str, Column]
    names: tuple[str, ...]
    rows: int
    lines: IntArray | None = None

    def where(self, row: int) -> str:
        """Return the place of a row in the file, in words; rows count from 1."""
        return f"row {row + 1}" if self.lines is None else f"line {self.lines[row]}"

    def cells(self, marked: Mapping[str, NDArray[np.bool_]]) -> str:
        """List cells that are marked in some columns, cut if there are many.

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
        words = [f"{self.where(row)}, column {name!r}" for row, name in first]
        more = sum(int(marks.sum()) for marks in marked.values()) - len(first)
        return "; ".join(words) + (f"; and {more:,} more" if more else "")

    def error(self, problem: str, row: int | None = None) -> TableError:
        """Return an error about the file or one of its rows."""
        return TableError(self.source, problem, "" if row is None else self.where(row))


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
                f"has more than {most:,} {what}, the most that can be clustered here. Take a "
                "sample of the rows, or leave out columns.",
            )


def refuse_repeated(source: str, names: Iterable[str], where: str = "") -> None:
    """Refuse columns of one name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            problem = f"two columns have the name {name!r}. Give every column its own."
            raise TableError(source, problem, where)
        seen.add(name)
