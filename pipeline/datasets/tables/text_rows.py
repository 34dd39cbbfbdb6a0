"""Text files as rows of fields with their line numbers. Errors name the line."""

import csv
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO, TextIO

from pipeline.errors import TableError

#: Number of characters. A longer line is not a row of a table.
LONGEST_LINE = 10_000_000

#: Opens a file for reading from its beginning.
Opener = Callable[[], BinaryIO]
#: The number of a line, and its fields.
Row = tuple[int, list[str]]


@contextmanager
def open_rows(source: str, opener: Opener, separator: str | None) -> Iterator[Iterator[Row]]:
    """Open a file, and give its rows that are not blank. Errors in the encoding name the line."""
    try:
        with opener() as binary:
            _refuse_other_encoding(source, binary)
            text = io.TextIOWrapper(binary, encoding="utf-8-sig", newline="")
            yield _fields(source, text, separator)
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
    for number, line in enumerate(binary, start=1):
        try:
            line.decode()
        except UnicodeDecodeError:
            return number
    return 1


def _fields(source: str, text: TextIO, separator: str | None) -> Iterator[Row]:
    lines = _lines(source, text)
    if separator is None:
        for number, line in enumerate(lines, start=1):
            if fields := line.split():
                yield number, fields
        return
    reader = csv.reader(lines, delimiter=separator, strict=True)
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


def _lines(source: str, text: TextIO) -> Iterator[str]:
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if "\0" in line or len(line) == LONGEST_LINE:
            problem = "has a null character" if "\0" in line else "is too long"
            raise TableError(
                source, f"{problem}, so the file is not a text table.", f"line {number}"
            )
        yield line
