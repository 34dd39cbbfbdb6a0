"""Checks of what callers hand in: public functions of the core validate here, then compute."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError

#: The core computes in float64 or, where a caller chooses so, in float32.
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def as_matrix(values: ArrayLike, what: str = "X") -> FloatArray:
    """Return `values` as a C-contiguous float64 matrix of finite numbers, or say why it is none."""
    try:
        matrix = np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{what} must be a rectangular table of numbers: {error}. "
            "Encode categories as numbers first."
        ) from error
    if np.ndim(values) != 2:
        raise InvalidInputError(
            f"{what} must have two dimensions (entities x features), not {np.ndim(values)}. "
            "Use X.reshape(-1, 1) for a single feature."
        )
    if matrix.size == 0:
        raise InvalidInputError(
            f"{what} is empty, its shape is {matrix.shape}. Give at least one entity and feature."
        )
    _refuse_non_finite(matrix, what)
    return matrix


def _refuse_non_finite(matrix: FloatArray, what: str) -> None:
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        row, column = bad[0]
        raise InvalidInputError(
            f"{what} holds {matrix[row, column]} at row {row}, column {column} "
            f"({len(bad)} such cells in all). Impute or drop them first."
        )


def as_whole_number(value: Any, what: str, least: int) -> int:
    """Return `value` as an int of at least `least`."""
    try:
        number = int(value)
        whole = bool(number == value) and not isinstance(value, bool)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number < least:
        raise InvalidInputError(
            f"{what} must be a whole number of at least {least}, not {value!r}."
        )
    return number


def as_cluster_count(k: Any, entities: int) -> int:
    """Return `k` as an int between 1 and the number of entities."""
    count = as_whole_number(k, "k", 1)
    if count > entities:
        raise InvalidInputError(
            f"k = {count} clusters cannot be formed of {entities} entities. Choose k <= {entities}."
        )
    return count


def as_exponent(p: Any, what: str = "p") -> float:
    """Return `p` as a finite float of at least 1."""
    try:
        exponent = float(p)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{what} must be a number of at least 1, not {p!r}.") from error
    if not 1.0 <= exponent < np.inf:
        raise InvalidInputError(
            f"{what} = {exponent} is no Minkowski exponent. Choose a finite value of at least 1; "
            "the paper uses 1.1 to 5.0."
        )
    return exponent


def as_choice(name: Any, what: str, known: Iterable[str]) -> str:
    """Return `name` if it is one of the `known` names, else suggest the nearest."""
    names = list(known)
    if isinstance(name, str) and name in names:
        return name
    near = get_close_matches(str(name), names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InvalidInputError(f"Unknown {what} {name!r}.{hint} Known: {', '.join(names)}.")


def refuse_overflow(
    X: FloatArray, p: float, precision: type[np.float64] | type[np.float32] = np.float64
) -> None:
    """Refuse data whose summed p-th powers do not fit: results would be inf or NaN."""
    largest = float(np.max(np.abs(X)))
    log2_of_sum = p * np.log2(2 * largest) + np.log2(X.size) if largest > 0 else 0.0
    if log2_of_sum > np.finfo(precision).maxexp - 1:
        raise InvalidInputError(
            f"X reaches {largest:.3g}, whose power p = {p:g} does not fit a {precision.__name__}. "
            "Normalise X first: normalise(X, 'range')."
        )
