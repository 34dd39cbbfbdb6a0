"""The classes of a few rows, as a user's CSV file gives them."""

import csv
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from pipeline.core.types import IntArray
from workflows.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class FewLabels:
    """The known classes of some rows, which count from 0."""

    rows: IntArray
    classes: tuple[str, ...]


def read_few_labels(path: str | PathLike[str], rows: int) -> FewLabels:
    r"""Read the classes of a few rows.

    Parameters
    ----------
    path : path
        A CSV file with the number of a row, from 1, in the first column, and its class in the
        second. A header, whose first cell has no digit, and further columns are ignored.
    rows : int
        The number of rows of the data.

    Raises
    ------
    InvalidInputError
        If the file cannot be read, names a row that does not exist or a row twice, or has fewer
        than two classes.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(f"{folder}/some.csv").write_text("row,class\n3,b\n1,a\n")
    ...     found = read_few_labels(f"{folder}/some.csv", rows=4)
    >>> found.rows.tolist(), found.classes
    ([2, 0], ('b', 'a'))
    """
    cells = _cells(Path(path))
    places = [_place(path, number, cell[0], rows) for number, cell in cells]
    classes = tuple(cell[1].strip() for _, cell in cells)
    if len(set(places)) < len(places):
        twice = next(place for place in places if places.count(place) > 1)
        raise ArgumentError(f"{path} has row {twice + 1} twice. Name each row once.", "labels")
    if len(set(classes)) < 2:
        raise ArgumentError(
            f"{path} has fewer than two classes. Give rows of at least two.", "labels"
        )
    return FewLabels(np.array(places, dtype=np.int64), classes)


def _cells(path: Path) -> list[tuple[int, list[str]]]:
    """Return the lines of a file that are not empty, with their numbers, without a header."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = [(number, cells) for number, cells in enumerate(csv.reader(file), 1) if cells]
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise ArgumentError(f"{path} cannot be read: {error}.", "labels") from error
    # A first cell such as 1st or -1 is no header, but a mistake that must not be passed over
    if lines and not any(letter.isdigit() for letter in lines[0][1][0]):
        lines = lines[1:]
    for number, cells in lines:
        if len(cells) < 2 or not cells[1].strip():
            raise ArgumentError(
                f"{path}, line {number}, has no class. Give a row number and a class in each line.",
                "labels",
            )
    return lines


def _place(path: str | PathLike[str], line: int, cell: str, rows: int) -> int:
    text = cell.strip()
    if not text.isdecimal() or not 1 <= int(text) <= rows:
        raise ArgumentError(
            f"{path}, line {line}: {text!r} is not a row of the data. Rows are numbered from 1 to "
            f"{rows:,}.",
            "labels",
        )
    return int(text) - 1
