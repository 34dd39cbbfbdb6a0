"""Cells of text: which are numbers, and which are missing."""

from collections.abc import Sequence

import numpy as np

from pipeline.core.types import FloatArray

#: Cells that are missing values.
MISSING = frozenset({"", "?", "NA", "N/A", "NaN", "nan", "null", "NULL"})


def as_numbers(cells: Sequence[str]) -> FloatArray:
    """Return cells as numbers, with NaN for missing values.

    Raises
    ------
    ValueError
        If a cell is not a number.

    Examples
    --------
    >>> as_numbers(["1", " 2.5e1 ", "?"]).tolist()
    [1.0, 25.0, nan]
    """
    text = "".join(cells)
    # Python also accepts 1_000 and digits of other scripts, which are not numbers here
    if "_" not in text and text.isascii():
        try:
            return np.array(list(map(float, cells)), dtype=np.float64)
        except ValueError:
            pass
    return np.array([_number(cell.strip()) for cell in cells], dtype=np.float64)


def _number(text: str) -> float:
    if text in MISSING:
        return float("nan")
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def is_number_or_missing(cell: str) -> bool:
    """Return whether a cell fits into a column of numbers.

    Examples
    --------
    >>> [is_number_or_missing(cell) for cell in ("1e3", "", "1_000", "one")]
    [True, True, False, False]
    """
    try:
        _number(cell.strip())
    except ValueError:
        return False
    return True
