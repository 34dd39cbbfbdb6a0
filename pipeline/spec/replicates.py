"""Replicates: several files that are the data sets 0, 1, 2, ... of one configuration."""

import re
from collections.abc import Callable, Iterator, Sequence
from glob import glob
from pathlib import Path

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table
from pipeline.datasets.tables.columns import MOST_CELLS
from pipeline.spec.generated import MOST_DATASETS


def replicate_files(pattern: str, folder: Path) -> list[Path]:
    """Return the files that match a pattern, in natural order: ``rep2`` is before ``rep10``.

    Parameters
    ----------
    pattern : str
        Such as ``"reps/*.csv"``. A relative one starts from `folder`.
    folder : Path
        Such as the folder of the spec.

    Raises
    ------
    InvalidInputError
        If no file matches, or too many do.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as made:
    ...     for name in ("rep10.csv", "rep2.csv", "notes.txt"):
    ...         (Path(made) / name).touch()
    ...     [path.name for path in replicate_files("*.csv", Path(made))]
    ['rep2.csv', 'rep10.csv']
    """
    # Path.glob refuses absolute patterns, and would search all folders for **
    found = [folder / name for name in glob(pattern, root_dir=folder)]  # noqa: PTH207
    files = sorted((path for path in found if path.is_file()), key=_natural)
    if not files:
        raise InvalidInputError(
            "no file matches. Give a pattern such as reps/*.csv; a relative one starts from the "
            "folder of the spec."
        )
    if len(files) > MOST_DATASETS:
        raise InvalidInputError(f"{len(files):,} files match, more than {MOST_DATASETS:,}.")
    return files


def read_replicates(
    files: Sequence[Path], read: Callable[[Path], Table], *, same_classes: bool
) -> list[Table]:
    """Read all files, and refuse those that cannot be data sets of one configuration.

    Parameters
    ----------
    files : sequence of Path
        In the order of the data sets.
    read : callable
        Reads one file.
    same_classes : bool
        Whether the number of classes must be the same in all files, because it is k.

    Raises
    ------
    InvalidInputError
        If two files differ in shape or number of classes, or all together are too large.

    Examples
    --------
    >>> import numpy as np
    >>> tables = {Path(f"{m}.csv"): Table(np.ones((3, m)), ("a", "b")[:m]) for m in (1, 2)}
    >>> read_replicates(list(tables), tables.__getitem__, same_classes=True)
    Traceback (most recent call last):
    pipeline.core.errors.InvalidInputError: 2.csv has 2 features, but 1.csv has 1. All files of a \
configuration must have the same number of rows, of features and, unless k is given, of classes.
    """
    tables, cells = list[Table](), 0
    for file in files:
        table = read(file)
        for what, here, first in _compared(table, tables[0] if tables else table, same_classes):
            if here != first:
                raise InvalidInputError(
                    f"{file.name} has {here} {what}, but {files[0].name} has {first}. All files "
                    "of a configuration must have the same number of rows, of features and, "
                    "unless k is given, of classes."
                )
        tables.append(table)
        cells += table.X.size
        if cells > MOST_CELLS:
            raise InvalidInputError(
                f"the first {len(tables)} of {len(files)} files have more than {MOST_CELLS:,} "
                "cells together. Give fewer or smaller files."
            )
    return tables


def _compared(
    table: Table, first: Table, same_classes: bool
) -> Iterator[tuple[str, int | None, int | None]]:
    """Yield what must be the same in two files: its name, and both numbers."""
    yield "features", table.X.shape[1], first.X.shape[1]
    yield "rows", len(table.X), len(first.X)
    if same_classes:
        yield "classes", table.class_count, first.class_count


def _natural(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts numbers in a path by their value."""
    pieces = re.split("([0-9]+)", str(path))
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
