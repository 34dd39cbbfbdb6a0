"""Checks of arguments: the public functions of the core validate here, then compute."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from reprlib import repr as short
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import Float64Array, IntArray

#: Whole numbers below this are codes already: sorting them would take most of the time.
FEW_CLASSES = 100


def as_matrix(values: ArrayLike, what: str = "X") -> Float64Array:
    """Return `values` as a C-contiguous float64 matrix of finite numbers."""
    try:
        given = np.ma.asanyarray(values) if np.ma.isMA(values) else np.asanyarray(values)
        if np.ma.is_masked(given):
            raise TypeError("some values are masked")
        if given.dtype.kind not in "fiubO":
            raise TypeError(f"its values are of type {given.dtype}")
        matrix = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{what} must be a rectangular table of numbers: {error}. "
            "Encode categories as numbers, and fill or drop missing values first."
        ) from error
    if given.ndim != 2:
        raise InvalidInputError(
            f"{what} must have two dimensions (rows x features), got {given.ndim}. Give a single "
            f"feature as {what}.reshape(-1, 1), a single row as {what}.reshape(1, -1)."
        )
    if matrix.size == 0:
        raise InvalidInputError(
            f"{what} is empty: its shape is {matrix.shape}. Give at least one row and one feature."
        )
    refuse_non_finite(matrix, what)
    return matrix


def as_labels(values: ArrayLike, what: str) -> NDArray[np.generic]:
    """Return labels as an array of numbers or strings, none of them missing."""
    try:
        labels = np.asanyarray(values)
        missing = np.ma.is_masked(labels) or bool((labels != labels).any())
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{what} must be an array of labels: {error}.") from error
    if missing or labels.dtype.kind == "O":
        raise InvalidInputError(
            f"{what} must be numbers or strings, all of one type and none missing. "
            "Drop entities without a label, or convert with [str(label) for label in labels]."
        )
    return np.asarray(labels)


def as_codes(labels: NDArray[np.generic]) -> IntArray:
    """Replace the distinct labels, over all rows together, by small numbers from 0 on."""
    if _are_codes(labels):
        return labels.astype(np.int64, copy=False)
    return np.asarray(np.unique(labels, return_inverse=True)[1]).reshape(labels.shape)


def _are_codes(labels: NDArray[np.generic]) -> bool:
    if labels.dtype.kind not in "iu" or not labels.size:
        return False
    numbers = labels.astype(np.int64, copy=False)
    return bool(numbers.min() >= 0 and numbers.max() < FEW_CLASSES)


def code_count(codes: IntArray) -> int:
    """Return how many codes there are from 0 to the largest."""
    return int(codes.max(initial=0)) + 1


def refuse_non_finite(matrix: Float64Array, what: str) -> None:
    """Raise an error that tells where the first NaN or infinity is, if there is one."""
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        row, column = bad[0]
        raise InvalidInputError(
            f"{what} contains {matrix[row, column]} at row {row}, column {column} "
            f"({len(bad)} such cells in total). Impute or drop them first."
        )


def as_list(values: Any, what: str, of: str) -> list[Any]:
    """Return an iterable of things as a list."""
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        return list(values)
    except TypeError as error:
        raise InvalidInputError(
            f"{what} must be a list of {of}, got {short(values)}. Put a single one into a list."
        ) from error


def as_whole_number(value: Any, what: str, least: int) -> int:
    """Return `value`, which may be a float such as 3.0, as an int of at least `least`."""
    number = _as_real(value)
    try:
        whole = None if number is None else int(number)
    except (ValueError, OverflowError):  # NaN or infinity
        whole = None
    if whole is None or whole != number or whole < least:
        raise InvalidInputError(
            f"{what} must be a whole number of at least {least}, got {short(value)}."
        )
    return whole


def _as_real(value: Any) -> Any:
    """Return a real number, which may be in an array without dimensions; None if it is not one."""
    number = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return number if isinstance(number, Real) and not isinstance(number, bool) else None


def as_seed_sequence(seed: int | SeedSequence) -> SeedSequence:
    """Return `seed`, or the sequence of a whole number of at least 0."""
    if isinstance(seed, SeedSequence):
        return seed
    return SeedSequence(as_whole_number(seed, "seed", 0))


def as_cluster_count(k: Any, entities: int) -> int:
    """Return `k` as an int between 1 and the number of entities."""
    count = as_whole_number(k, "k", 1)
    if count > entities:
        raise InvalidInputError(
            f"k must be at most {entities}, the number of entities, got {count}."
        )
    return count


def as_exponents(ps: Any) -> list[float]:
    """Return all exponents in `ps` as floats."""
    return [as_exponent(p) for p in as_list(ps, "ps", "exponents")]


def as_exponent(p: Any, what: str = "p") -> float:
    """Return `p` as a finite float of at least 1."""
    number = _as_real(p)
    try:
        exponent = np.nan if number is None else float(number)
    except OverflowError:
        exponent = np.inf
    if not 1.0 <= exponent < np.inf:
        got = short(p) if number is None else f"{exponent}"
        raise InvalidInputError(
            f"{what} must be a finite number of at least 1, got {got}. The paper uses 1.1 to 5.0."
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


def refuse_unfit_powers(
    X: Float64Array, p: float, precision: type[np.float64] | type[np.float32] = np.float64
) -> None:
    """Raise an error if p-th powers of the data overflow or vanish: distances would be inf or 0."""
    span = float(np.ptp(X, axis=0).max())
    if span == 0:
        return
    limits = np.finfo(precision)
    remedy = "Normalise X first, for example with normalise(X, 'range')"
    remedy += ", or lower p" if p > 2 else ""  # k-means has p = 2, which is not a choice
    remedy += ", or use float64." if precision is np.float32 else "."
    largest = float(np.abs(X).max())
    if p * np.log2(2 * largest) + np.log2(X.size) > limits.maxexp - 1:
        raise InvalidInputError(
            f"X has values up to {largest:.3g}, which overflow {precision.__name__} when raised to "
            f"p = {p:g}. {remedy}"
        )
    if p * np.log2(span / X.shape[1]) < limits.minexp + limits.nmant:
        raise InvalidInputError(
            f"the widest feature of X has a range of {span:.3g}, which underflows to 0 in "
            f"{precision.__name__} when raised to p = {p:g}. {remedy}"
        )
