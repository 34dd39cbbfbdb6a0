"""Read ARFF files, the format of Weka: named and typed columns, then rows as in CSV."""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import numpy as np

from pipeline.datasets.tables.columns import Column, Columns, refuse_repeated, refuse_too_large
from pipeline.datasets.tables.delimited import read_rows
from pipeline.datasets.tables.text_rows import Line, Opener, Row, open_lines
from pipeline.errors import TableError

NUMBERS = ("numeric", "real", "integer")
#: A field: in single or double quotes, where a backslash precedes a quote, or without quotes.
#: Nothing is matched twice: a damaged line of millions of characters must not take hours.
_FIELD = re.compile(
    r"""\s*+(?:'((?:[^'\\]|\\.)*+)'\s*+|"((?:[^"\\]|\\.)*+)"\s*+|([^,'"]*+))(,|$)"""
)
#: The name of an attribute, which may be in quotes, and the rest of the line.
_ATTRIBUTE = re.compile(r"""(?:'((?:[^'\\]|\\.)*+)'|"((?:[^"\\]|\\.)*+)"|([^\s'"{]++))\s*+(.*+)""")


@dataclass(frozen=True)
class _Attribute:
    """A column: its name, its line, and its categories; None for numbers, empty for any text."""

    name: str
    line: int
    categories: tuple[str, ...] | None


def read_arff(
    source: str, opener: Opener, texts: Collection[str], ignore: Collection[str]
) -> Columns:
    r"""Read a dense ARFF file.

    Parameters
    ----------
    source : str
        Name of the file, for error messages.
    opener : callable
        Opens the file. Called up to three times.
    texts, ignore : collection of str
        Columns to read as text even if they are numbers, and columns not to read.

    Returns
    -------
    Columns
        Numeric attributes are numbers, nominal ones and strings text.

    Raises
    ------
    TableError
        If the file is not a valid ARFF file, is sparse, or has dates or tables in its columns.

    Examples
    --------
    >>> from io import BytesIO
    >>> file = b"@relation r\n@attribute size real\n@attribute c {a, 'b c'}\n@data\n1,a\n?,'b c'\n"
    >>> read = read_arff("my.arff", lambda: BytesIO(file), texts=[], ignore=[])
    >>> read.columns["size"].values.tolist(), read.columns["c"].categories
    ([1.0, nan], ('a', 'b c'))
    """
    with open_lines(source, opener) as lines:
        attributes = list(_attributes(source, lines))
    names = [each.name for each in attributes]
    refuse_too_large(source, 1, len(names))
    refuse_repeated(source, names)
    nominal = {each.name for each in attributes if each.categories is not None}
    open_rows = partial(_open_rows, source, opener)
    read = read_rows(source, open_rows, names, texts={*texts, *nominal}, ignore=ignore)
    for each in attributes:
        if each.name in read.columns:
            _refuse_other_type(read, each, read.columns[each.name])
    return read


def _attributes(source: str, lines: Iterator[Line]) -> Iterator[_Attribute]:
    """Yield the attributes of the header, whose last line is ``@data``."""
    found = False
    for number, line in _without_comments(lines):
        keyword, *rest = line.split(None, 1)
        if keyword.lower() == "@data":
            if not found:
                raise _error(
                    source, number, "there is no @attribute before @data. Describe the columns"
                )
            return
        if keyword.lower() == "@attribute":
            yield _attribute(source, number, "".join(rest))
            found = True
        elif keyword.lower() != "@relation":
            raise _error(
                source, number, f"{line[:40]!r} is not a line of a header. Expected @attribute"
            )
    raise TableError(source, "has no @data. Give an ARFF file with rows after @data.")


def _attribute(source: str, number: int, text: str) -> _Attribute:
    match = _ATTRIBUTE.fullmatch(text)
    if match is None:
        raise _error(
            source, number, "the attribute has no name, or a quote is not closed. Correct it"
        )
    kind = match[4].strip()
    name = _text(match).strip()
    if not name:
        raise _error(source, number, "the attribute has an empty name. Name it")
    if kind.lower() in NUMBERS:
        return _Attribute(name, number, None)
    if kind.lower() == "string":
        return _Attribute(name, number, ())
    if kind.startswith("{") and kind.endswith("}"):
        return _Attribute(name, number, tuple(_fields(source, number, kind[1:-1])))
    raise _error(
        source,
        number,
        f"attribute {name!r} is of the type {kind[:40]!r}. Give numeric, real, integer, string or "
        "categories such as {a, b}",
    )


@contextmanager
def _open_rows(source: str, opener: Opener) -> Iterator[Iterator[Row]]:
    with open_lines(source, opener) as lines:
        for _ in _attributes(source, lines):
            pass
        yield _rows(source, lines)


def _rows(source: str, lines: Iterator[Line]) -> Iterator[Row]:
    for number, line in _without_comments(lines):
        if line.startswith("{"):
            raise _error(
                source, number, "the file is sparse. Save it as a dense ARFF file or as CSV"
            )
        yield number, _fields(source, number, line)


def _without_comments(lines: Iterator[Line]) -> Iterator[Line]:
    for number, line in lines:
        text = line.strip()
        if text and not text.startswith("%"):
            yield number, text


def _fields(source: str, number: int, text: str) -> list[str]:
    """Split a line at commas that are not in quotes."""
    if "'" not in text and '"' not in text:
        return [field.strip() for field in text.split(",")]
    fields, place, comma = [], 0, ","
    while comma:
        match = _FIELD.match(text, place)
        if match is None:
            raise _error(
                source, number, "a quote is not closed, or text follows it. Correct the quotes"
            )
        fields.append(_text(match).strip())
        place, comma = match.end(), match[4]
    return fields


def _text(match: re.Match[str]) -> str:
    """Return the first of three groups that was matched; the third is without quotes."""
    quoted = match[1] if match[1] is not None else match[2]
    return match[3] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)


def _refuse_other_type(table: Columns, attribute: _Attribute, column: Column) -> None:
    if attribute.categories is None:
        table.refuse_text(column)
        return
    known = column.categories or ()
    other = [code for code, name in enumerate(known) if name not in attribute.categories]
    if attribute.categories and other:
        row = int(np.isin(column.values, other).argmax())
        raise table.error(
            f"{known[column.values[row]][:40]!r} is not a category of column {column.name!r}. Add "
            f"it in line {attribute.line}, or correct it.",
            row,
        )


def _error(source: str, line: int, problem: str) -> TableError:
    return TableError(source, f"{problem}.", f"line {line}")
