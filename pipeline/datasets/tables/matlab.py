"""Read MATLAB files: a matrix, and vectors of labels."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.arrays import columns_from_arrays
from pipeline.datasets.tables.columns import Columns, default_names, refuse_too_large
from pipeline.datasets.tables.mat_variables import (
    BYTE_ORDERS,
    HEADER,
    MARK,
    MatError,
    Variable,
    read_variables,
)
from pipeline.errors import TableError

#: Names of the variable with the matrix, in any case.
MATRICES = ("x", "data")
#: The mark of files that are HDF5.
HDF5 = (b"\x00\x02IM", b"\x02\x00MI")
SAVE_AGAIN = "Save it again in MATLAB with save('my.mat', 'X', 'y', '-v7'), or as a .csv file."


def read_mat(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    """Read the matrix ``X`` or ``Data``. Any vector of the same length can be the label.

    Parameters
    ----------
    path : Path
        A file of MATLAB's version v6 or v7. Those of v7.3, which are HDF5, are refused.
    texts, ignore : collection of str
        Columns to read as text even if they are numbers, and columns not to read. Columns are
        named x1, x2 and so on.

    Raises
    ------
    TableError
        If the file is damaged or of another version, or has no such matrix.
    """
    source = str(path)
    try:
        with path.open("rb") as file:
            _refuse_other_version(source, file.read(HEADER)[MARK])
            file.seek(0)
            found = {each.name: each for each in read_variables(file)}
            return _columns(source, found, texts, ignore)
    except OSError as error:
        raise TableError(source, f"cannot be read: {error.strerror or error}.") from error
    except (MatError, UnicodeDecodeError) as error:
        raise TableError(source, f"cannot be used: {error}. {SAVE_AGAIN}") from error


def _refuse_other_version(source: str, mark: bytes) -> None:
    if mark in HDF5:
        raise TableError(source, f"is a MATLAB file of version v7.3 (HDF5). {SAVE_AGAIN}")
    if mark not in BYTE_ORDERS:
        raise TableError(source, f"is not a MATLAB file of version v6 or v7. {SAVE_AGAIN}")


def _columns(
    source: str, found: dict[str, Variable], texts: Collection[str], ignore: Collection[str]
) -> Columns:
    matrix = _matrix(source, found)
    X = matrix.numbers()
    rows, width = X.shape
    others = [name for name in found if name != matrix.name]
    labels = {name: _labels(source, found[name], rows) for name in others if name in texts}
    columns = dict(zip(default_names(width), X.T, strict=True)) | labels
    wanted = [item for item in columns.items() if item[0] not in ignore]
    return columns_from_arrays(source, [*default_names(width), *others], rows, wanted, texts)


def _matrix(source: str, found: dict[str, Variable]) -> Variable:
    names = [name for name in found if name.lower() in MATRICES]
    if len(names) != 1:
        listed = ", ".join(found) or "none"
        raise TableError(
            source,
            f"needs one variable with the matrix, named X or Data; its variables: {listed}. "
            "Rename the matrix, and save the file again.",
        )
    matrix = found[names[0]]
    if len(matrix.shape) != 2:
        raise TableError(
            source,
            f"its variable {matrix.name!r} has {len(matrix.shape)} dimensions. Give a matrix.",
        )
    refuse_too_large(source, *matrix.shape)
    return matrix


def _labels(source: str, variable: Variable, rows: int) -> NDArray[Any]:
    """Return labels: numbers, the texts in a cell array, or the rows of an array of text."""
    labels = variable.items()
    if len(labels) != rows:
        raise TableError(
            source,
            f"its variable {variable.name!r} has {len(labels)} labels, but there are {rows} rows. "
            "Give one label for each row.",
        )
    return np.array(labels)
