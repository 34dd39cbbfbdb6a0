"""Checks of what callers hand in: public functions of the core validate here, then compute."""

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import FloatArray, IntArray

#: Whole numbers below this are codes as they are: sorting them would take most of the time.
FEW_CLASSES = 100


def as_matrix(values: ArrayLike, what: str = "X") -> FloatArray:
    """Return `values` as a C-contiguous float64 matrix of finite numbers, or say why it is none."""
    try:
        given = np.ma.asanyarray(values) if np.ma.isMA(values) else np.asanyarray(values)
        if given.dtype.kind not in "fiubO" or np.ma.is_masked(given):
            raise TypeError(f"{given.dtype} values, masked or not real, cannot be clustered")
        matrix = np.ascontiguousarray(given, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidInputError(
            f"{what} must be a rectangular table of numbers: {error}. "
            "Encode categories as numbers and fill or drop missing values first."
        ) from error
    if given.ndim != 2:
        raise InvalidInputError(
            f"{what} must have two dimensions (rows x features), not {given.ndim}. A single "
            f"feature is {what}.reshape(-1, 1), a single row {what}.reshape(1, -1)."
        )
    if matrix.size == 0:
        raise InvalidInputError(
            f"{what} is empty, its shape is {matrix.shape}. Give at least one row and feature."
        )
    refuse_non_finite(matrix, what)
    return matrix


def as_labels(values: ArrayLike, what: str) -> NDArray[np.generic]:
    """Return labels as an array of numbers or strings, without missing ones."""
    try:
        labels = np.asanyarray(values)
        missing = np.ma.is_masked(labels) or bool((labels != labels).any())
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{what} must be an array of labels: {error}.") from error
    if missing or labels.dtype.kind == "O":
        raise InvalidInputError(
            f"{what} must be numbers or strings, all of one type and none missing. "
            "Drop such entities, or convert with [str(label) for label in labels]."
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


def refuse_non_finite(matrix: FloatArray, what: str) -> None:
    """Refuse NaN and infinity, and say where the first one is."""
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
        whole = bool(number == value) and not isinstance(value, bool | np.bool_)
    except (TypeError, ValueError, OverflowError):
        whole = False
    if not whole or number < least:
        raise InvalidInputError(
            f"{what} must be a whole number of at least {least}, not {value!r}."
        )
    return number


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
            f"k = {count} clusters cannot be formed of {entities} entities. Choose k <= {entities}."
        )
    return count


def as_exponents(ps: Any) -> list[float]:
    """Return all exponents in `ps` as floats."""
    if isinstance(ps, str) or not isinstance(ps, Iterable):
        raise InvalidInputError(f"ps must be a list of exponents, not {ps!r}. Write [{ps}].")
    return [as_exponent(p) for p in ps]


def as_exponent(p: Any, what: str = "p") -> float:
    """Return `p` as a finite float of at least 1."""
    try:
        if not isinstance(p, Real) or isinstance(p, bool):
            raise TypeError
        exponent = float(p)
    except (TypeError, ValueError, OverflowError) as error:
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


def refuse_unfit_powers(
    X: FloatArray, p: float, precision: type[np.float64] | type[np.float32] = np.float64
) -> None:
    """Refuse data whose p-th powers overflow or vanish: every distance would be inf or 0."""
    span = float(np.ptp(X, axis=0).max())
    if span == 0:
        return
    limits = np.finfo(precision)
    remedy = "Normalise X first, normalise(X, 'range')"
    remedy += ", or lower p" if p > 2 else ""  # 2 is that of k-means, which nobody chose
    remedy += ", or use float64." if precision is np.float32 else "."
    largest = float(np.abs(X).max())
    if p * np.log2(2 * largest) + np.log2(X.size) > limits.maxexp - 1:
        raise InvalidInputError(
            f"X reaches {largest:.3g}, whose power p = {p:g} does not fit a {precision.__name__}. "
            + remedy
        )
    if p * np.log2(span / X.shape[1]) < limits.minexp + limits.nmant:
        raise InvalidInputError(
            f"X spans no more than {span:.3g}, of which powers p = {p:g} vanish in "
            f"{precision.__name__}. {remedy}"
        )
