"""Read separated values from text files: numbers in one pass, text columns in a second one.

pandas is not used here, because it fills short rows, renames repeated columns, treats more words
as missing than documented here, and does not report the line of an error.
"""

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from pipeline.core.types import IntArray
from pipeline.datasets.tables.cells import MISSING, as_numbers, is_number_or_missing
from pipeline.datasets.tables.columns import (
    MOST_CATEGORIES,
    NO_CATEGORY,
    Column,
    Columns,
    default_names,
    refuse_repeated,
    refuse_too_large,
)
from pipeline.datasets.tables.text_rows import Opener, Row, RowOpener, row_opener
from pipeline.errors import TableError

#: Number of cells that are held as text at once.
CELLS_AT_ONCE = 20_000


def read_delimited(
    source: str,
    opener: Opener,
    separator: str | None,
    *,
    names: Sequence[str] | None = None,
    header: bool = True,
    texts: Collection[str] = (),
    ignore: Collection[str] = (),
) -> Columns:
    r"""Read separated values.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    opener : callable
        Opens the file. Called up to three times.
    separator : str or None
        The character between fields. None stands for white space.
    names : sequence of str, optional
        Names of the columns. By default the first row contains them.
    header : bool
        Whether the first row contains the names, if they are not given. Otherwise the columns are
        named x1, x2 and so on.
    texts, ignore : collection of str
        Columns to read as text even if they look like numbers, and columns not to read.

    Returns
    -------
    Columns
        Columns in which every cell is a number or missing are numbers, the others text.

    Raises
    ------
    TableError
        If the file is not a valid table. The message has the line.

    Examples
    --------
    >>> from io import BytesIO
    >>> read = read_delimited("my.csv", lambda: BytesIO(b"a,b\n1,x\n2,y\n"), ",")
    >>> read.columns["a"].values.tolist(), read.columns["b"].categories
    ([1.0, 2.0], ('x', 'y'))
    """
    open_rows = row_opener(source, opener, separator)
    if names is not None:
        return read_rows(source, open_rows, names, texts=texts, ignore=ignore)
    with open_rows() as rows:
        found = _header(source, rows, separator) if header else _default_header(source, rows)
    return read_rows(
        source, open_rows, found, texts=texts, ignore=ignore, first_row=1 if header else 0
    )


def read_rows(
    source: str,
    open_rows: RowOpener,
    names: Sequence[str],
    *,
    texts: Collection[str] = (),
    ignore: Collection[str] = (),
    first_row: int = 0,
) -> Columns:
    """Read columns from rows of text, skipping those before `first_row`; see `read_delimited`."""
    builders: dict[str, _Numbers | _Texts] = {
        name: _Texts() if name in texts else _Numbers() for name in names if name not in ignore
    }
    with open_rows() as rows:
        lines = _build(source, islice(rows, first_row, None), names, builders)
    strays = {name: builder.stray for name, builder in builders.items() if builder.stray}
    if strays:
        again = {name: _Texts(stray) for name, stray in strays.items()}
        with open_rows() as rows:
            if not np.array_equal(
                _build(source, islice(rows, first_row, None), names, again), lines
            ):
                raise TableError(source, "was changed while it was read. Read it again.")
        builders |= again
    columns = {name: builder.column(name) for name, builder in builders.items()}
    return Columns(source, columns, tuple(names), len(lines), lines)


class _Numbers:
    """Builds a column of numbers, until a cell is not a number."""

    def __init__(self) -> None:
        self.values = array("d")  # grows in place; joining pieces would fragment the memory
        self.stray: tuple[int, str] | None = None

    def add(self, cells: Sequence[str]) -> None:
        if self.stray:
            return
        try:
            self.values.frombytes(as_numbers(cells).tobytes())
        except ValueError:
            place = [is_number_or_missing(cell) for cell in cells].index(False)
            self.stray = len(self.values) + place, cells[place].strip()
            self.values = array("d")

    def column(self, name: str) -> Column:
        return Column(name, np.frombuffer(self.values, dtype=np.float64))


class _Texts:
    """Builds a column of categories. `stray` is the cell that is not a number."""

    def __init__(self, stray: tuple[int, str] | None = None) -> None:
        self.stray = stray
        self.codes = array("i")
        self.known: dict[str, int] = {}

    def add(self, cells: Sequence[str]) -> None:
        stripped = [cell.strip() for cell in cells]
        # Stop once there are too many: a column of identifiers would fill the memory
        if len(self.known) <= MOST_CATEGORIES:
            for text in stripped:
                if text not in MISSING:
                    self.known.setdefault(text, len(self.known))
        self.codes.extend(self.known.get(text, NO_CATEGORY) for text in stripped)

    def column(self, name: str) -> Column:
        codes = np.frombuffer(self.codes, dtype=np.intc)
        return Column(name, codes, tuple(self.known), self.stray)


def _build(
    source: str,
    rows: Iterator[Row],
    header: Sequence[str],
    builders: Mapping[str, "_Numbers | _Texts"],
) -> IntArray:
    """Pass all rows to the builders of columns, and return the lines of the rows."""
    places = {name: place for place, name in enumerate(header) if name in builders}
    lines: list[IntArray] = []
    count = 0
    at_once = max(1, CELLS_AT_ONCE // len(header))
    checked = _of_width(source, rows, len(header))
    while some := list(islice(checked, at_once)):
        count += len(some)
        refuse_too_large(source, count, len(places))
        columns = list(zip(*(fields for _, fields in some), strict=True))
        for name, place in places.items():
            builders[name].add(columns[place])
        lines.append(np.array([line for line, _ in some], dtype=np.int64))
    if not count:
        raise TableError(source, "has no rows of data. Give a table with a header and rows.")
    return np.concatenate(lines)


def _of_width(source: str, rows: Iterator[Row], width: int) -> Iterator[Row]:
    """Yield rows, and refuse the first that is too short or too long before it is kept."""
    for line, fields in rows:
        if len(fields) != width:
            raise TableError(
                source,
                f"has {len(fields)} fields, but there are {width} columns. Correct the line, or "
                "quote fields that contain a separator.",
                f"line {line}",
            )
        yield line, fields


def _header(source: str, rows: Iterator[Row], separator: str | None) -> list[str]:
    try:
        line, fields = next(rows)
    except StopIteration:
        raise TableError(source, "is empty. Give a table with a header and rows.") from None
    names = [field.strip() for field in fields]
    where = f"line {line}"
    refuse_too_large(source, 1, len(names))
    _refuse_other_separator(source, names, where, separator)
    for place, name in enumerate(names, start=1):
        if not name:
            raise TableError(source, f"column {place} has no name. Name or remove it.", where)
        if _is_fraction(name):
            raise TableError(
                source,
                f"{name!r} is a number, not a column name. Give a header in the first line, or "
                "read the file without one: header = false.",
                where,
            )
    refuse_repeated(source, names, where)
    return names


def _default_header(source: str, rows: Iterator[Row]) -> list[str]:
    """Return names for the columns of a file without a header."""
    try:
        line, fields = next(rows)
    except StopIteration:
        raise TableError(source, "is empty. Give a table with rows.") from None
    refuse_too_large(source, 1, len(fields))
    _refuse_other_separator(source, fields, f"line {line}", ",")
    return default_names(len(fields))


def _is_fraction(name: str) -> bool:
    """Return whether a name is a number, except whole numbers: years are valid column names."""
    return not name.isdecimal() and name not in MISSING and is_number_or_missing(name)


def _refuse_other_separator(
    source: str, names: Sequence[str], where: str, separator: str | None
) -> None:
    if separator is None or len(names) > 1:
        return
    for other, word in ((";", "semicolons"), ("\t", "tabs"), (",", "commas")):
        if other in names[0]:
            raise TableError(
                source,
                f"its fields are separated by {word}. Separate them by commas in a .csv file, by "
                "tabs in a .tsv file.",
                where,
            )
