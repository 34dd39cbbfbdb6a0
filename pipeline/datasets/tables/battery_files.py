"""Read the files of benchmark batteries: a matrix, and reference labellings in files beside it.

The matrix is ``name.data.gz``: numbers, separated by white space, without a header. Labellings are
``name.labels0.gz``, ``name.labels1.gz`` and so on: a whole number in each line, classes from 1 on
and 0 for noise points. ``#`` starts a comment. Files may also be unpacked, without ``.gz``.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import numpy as np

from pipeline.datasets.tables.columns import (
    MOST_CATEGORIES,
    NO_CATEGORY,
    Column,
    Columns,
    default_names,
    refuse_too_large,
)
from pipeline.datasets.tables.delimited import read_rows
from pipeline.datasets.tables.packed import PACKED, open_packed
from pipeline.datasets.tables.text_rows import Row, open_lines
from pipeline.errors import TableError

#: The ending of matrices, without that of packed files.
MATRIX = ".data"
#: The class of noise points.
NOISE = "0"
#: Where a comment begins.
COMMENT = "#"


def read_battery(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    r"""Read a matrix, and the labellings beside it that are wanted as text.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "rings.data"
    ...     _ = path.write_text("0.5 1\n2 3\n7 8\n")
    ...     _ = path.with_suffix(".labels0").write_text("1\n0\n2\n")
    ...     read = read_battery(path, texts=["labels0"], ignore=[])
    >>> read.names, read.columns["labels0"].categories
    (('x1', 'x2', 'labels0'), ('1', '0', '2'))
    """
    matrix = _matrix(path, ignore)
    files = labellings(path)
    wanted = {name: file for name, file in files.items() if name in texts and name not in ignore}
    labels = {name: _labels(file, name, matrix) for name, file in wanted.items()}
    names = (*matrix.names, *files)
    return Columns(matrix.source, {**matrix.columns, **labels}, names, matrix.rows, matrix.lines)


def labellings(path: Path) -> dict[str, Path]:
    """Return the files with the labellings of a matrix, by name and in order."""
    stem, packed = _parts(path)
    pattern = re.compile(rf"{re.escape(stem)}\.(labels\d+){re.escape(packed)}", re.ASCII)
    try:
        files = [file for file in path.parent.iterdir() if pattern.fullmatch(file.name)]
    except OSError as error:
        raise TableError(str(path), f"cannot be read: {error.strerror}.") from error
    names = {file.name.removeprefix(f"{stem}.").removesuffix(packed): file for file in files}
    return dict(sorted(names.items(), key=lambda item: (len(item[0]), item[0])))


def _parts(path: Path) -> tuple[str, str]:
    """Return the name of a matrix without its ending, and the ending of packed files if it has one.

    Examples
    --------
    >>> _parts(Path("wut/x1.data.gz")), _parts(Path("a.b.data"))
    (('x1', '.gz'), ('a.b', ''))
    """
    packed = path.suffix if path.suffix.lower() == PACKED else ""
    return path.name.removesuffix(packed)[: -len(MATRIX)], packed


def _matrix(path: Path, ignore: Collection[str]) -> Columns:
    source, open_rows = str(path), partial(_open_rows, path)
    with open_rows() as rows:
        line, first = next(rows, (0, []))
    if not first:
        raise TableError(source, "is empty. Give a matrix of numbers.")
    refuse_too_large(source, 1, len(first))
    _refuse_commas(source, line, first)
    read = read_rows(source, open_rows, default_names(len(first)), ignore=ignore)
    for column in read.columns.values():
        read.refuse_text(column)
    return read


@contextmanager
def _open_rows(path: Path) -> Iterator[Iterator[Row]]:
    with open_lines(str(path), lambda: open_packed(path)) as lines:
        split = ((number, line.partition(COMMENT)[0].split()) for number, line in lines)
        yield ((number, fields) for number, fields in split if fields)


def _refuse_commas(source: str, line: int, fields: list[str]) -> None:
    if any("," in field for field in fields):
        raise TableError(
            source,
            "its fields are separated by commas, but by spaces in a .data file. Rename it to .csv, "
            "and read it without a header: header = false.",
            f"line {line}",
        )


def _labels(path: Path, name: str, matrix: Columns) -> Column:
    """Read a labelling. Classes are coded in the order in which they occur."""
    known: dict[str, int] = {}
    codes = np.full(matrix.rows, NO_CATEGORY, dtype=np.int32)
    count = 0
    with _open_rows(path) as rows:
        for line, fields in rows:
            text = _whole(path, line, fields)
            if count < matrix.rows and len(known) <= MOST_CATEGORIES + 1:
                codes[count] = known.setdefault(text, len(known))
            count += 1
    if count != matrix.rows:
        raise TableError(
            str(path),
            f"has {count:,} labels, but {matrix.source} has {matrix.rows:,} rows. Give one label "
            "for each row.",
        )
    return Column(name, codes, tuple(known), noise=NOISE)


def _whole(path: Path, line: int, fields: list[str]) -> str:
    """Return a label without leading zeros."""
    if len(fields) != 1 or not re.fullmatch(r"\d{1,9}", fields[0], re.ASCII):
        raise TableError(
            str(path),
            f"{' '.join(fields)[:40]!r} is not a label. Give a class from 1 on in each line, or 0 "
            "for noise.",
            f"line {line}",
        )
    return str(int(fields[0]))
