"""Text files as rows of fields with their line numbers. Errors name the line."""

import csv
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import BinaryIO, TextIO

from pipeline.errors import TableError

#: Number of characters. A longer line is not a row of a table.
LONGEST_LINE = 10_000_000
#: Ten times as many as a table may have rows: a row may have several lines, and some are blank.
MOST_LINES = 10_000_000

#: Opens a file for reading from its beginning.
Opener = Callable[[], BinaryIO]
#: The number of a line, and its fields.
Row = tuple[int, list[str]]
#: Opens the rows of a file, from the first.
RowOpener = Callable[[], AbstractContextManager[Iterator[Row]]]
#: The number of a line, and its text.
Line = tuple[int, str]


def row_opener(source: str, opener: Opener, separator: str | None) -> RowOpener:
    """Return what opens the rows of a file that are not blank.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    opener : callable
        Opens the file.
    separator : str or None
        The character between fields. None stands for white space.
    """
    split = _split_at_spaces if separator is None else partial(_split, source, separator)
    return partial(_open_rows, source, opener, split)


@contextmanager
def _open_rows(
    source: str, opener: Opener, split: Callable[[Iterator[Line]], Iterator[Row]]
) -> Iterator[Iterator[Row]]:
    with open_lines(source, opener) as lines:
        yield split(lines)


@contextmanager
def open_lines(source: str, opener: Opener) -> Iterator[Iterator[Line]]:
    """Open a file, and give its lines with their numbers. Errors in the encoding name the line."""
    try:
        with opener() as binary:
            _refuse_other_encoding(source, binary)
            text = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
            yield _lines(source, text)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(
            source,
            f"cannot be unpacked: {error}. The file is damaged, or it was not packed by gzip. Get "
            "it again.",
        ) from error
    except OSError as error:
        raise TableError(source, f"cannot be read: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        with opener() as binary:
            line = _undecodable_line(binary)
        raise TableError(
            source,
            f"byte 0x{error.object[error.start]:02x} is not UTF-8. Save the file as UTF-8.",
            f"line {line}",
        ) from error


def _refuse_other_encoding(source: str, binary: BinaryIO) -> None:
    first = binary.read(2)
    binary.seek(0)
    if first in (b"\xff\xfe", b"\xfe\xff"):
        raise TableError(source, "is UTF-16. Save the file as UTF-8.", "line 1")


def _undecodable_line(binary: BinaryIO) -> int:
    lines = iter(lambda: binary.readline(LONGEST_LINE), b"")
    for number, line in enumerate(lines, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
    return 1


def _split_at_spaces(lines: Iterator[Line]) -> Iterator[Row]:
    for number, line in lines:
        if fields := line.split():
            yield number, fields


def _split(source: str, separator: str, lines: Iterator[Line]) -> Iterator[Row]:
    reader = csv.reader((line for _, line in lines), delimiter=separator, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise TableError(
                source,
                f"cannot be split into fields: {error}. Close every quote, and write a quote "
                'inside quotes twice: "".',
                f"line {first}",
            ) from error
        if len(fields) > 1 or "".join(fields).strip():  # not a blank line
            yield first, fields


def _lines(source: str, text: TextIO) -> Iterator[Line]:
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if problem := _problem(number, line):
            raise TableError(
                source, f"{problem}, so the file is not a text table.", f"line {number}"
            )
        yield number, line


def _problem(number: int, line: str) -> str:
    if "\0" in line:
        return "has a null character"
    if len(line) == LONGEST_LINE:
        return "is too long"
    return f"there are more than {MOST_LINES:,} lines" if number > MOST_LINES else ""
