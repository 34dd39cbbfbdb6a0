"""Grids of exponents. Exponents are decimals: 1.4 is the float 1.4 however the grid was given."""

from collections.abc import Mapping
from decimal import Decimal
from itertools import pairwise
from math import inf
from numbers import Real
from typing import Any

from pipeline.core.validation import as_exponent
from pipeline.errors import BadEntryError, Location
from pipeline.spec.fields import is_list
from pipeline.spec.problems import unknown_key

#: The paper's grid has 40. Many more indicate a mistyped step.
MOST_EXPONENTS = 1000

RANGE = ("start", "stop", "step")
KEYS = (*RANGE, "values")


def parse_exponents(given: Any) -> tuple[float, ...]:
    """Return the exponents that a table or a list describes, sorted.

    Parameters
    ----------
    given : mapping or iterable of float
        A table with ``start``, ``stop`` and ``step``, or with ``values``; or the values
        themselves. `stop` is included if a step reaches it.

    Returns
    -------
    tuple of float
        Distinct, finite, each at least 1.

    Examples
    --------
    >>> parse_exponents({"start": 1.1, "stop": 1.5, "step": 0.1})
    (1.1, 1.2, 1.3, 1.4, 1.5)
    >>> parse_exponents([3, 1.5])
    (1.5, 3.0)
    """
    if not isinstance(given, Mapping):
        return _from_list(given, ())
    for key in given:
        if key not in KEYS:
            raise BadEntryError((key,), given[key], unknown_key(key, KEYS))
    if "values" not in given:
        return _from_range(given)
    if len(given) > 1:
        raise ValueError("give either values, or start, stop and step; not both.")
    return _from_list(given["values"], ("values",))


def _from_list(values: Any, entry: Location) -> tuple[float, ...]:
    if not is_list(values):
        raise BadEntryError(entry, values, "give a list of exponents such as [1.5, 2.0].")
    items = list(values)
    if not 0 < len(items) <= MOST_EXPONENTS:
        raise BadEntryError(entry, items, f"give 1 to {MOST_EXPONENTS} exponents.")
    exponents: list[float] = []
    for index, item in enumerate(items):
        exponent = _exponent(item, (*entry, index))
        if exponent in exponents:
            raise BadEntryError((*entry, index), item, "is given twice. Give each exponent once.")
        exponents.append(exponent)
    return tuple(sorted(exponents))


def _from_range(table: Mapping[str, Any]) -> tuple[float, ...]:
    missing = [key for key in RANGE if key not in table]
    if missing:
        raise ValueError(
            f"misses the key {' and '.join(missing)}. Give start, stop and step, or values."
        )
    start, stop = (_decimal(_exponent(table[key], (key,))) for key in ("start", "stop"))
    step = _step(table["step"])
    if stop < start:
        raise BadEntryError(("stop",), table["stop"], f"must be at least start = {start}.")
    steps = (stop - start) / step
    exponents = [
        float(start + index * step) for index in range(min(int(steps), MOST_EXPONENTS) + 1)
    ]
    if len(exponents) > MOST_EXPONENTS or len(set(exponents)) < len(exponents):
        raise BadEntryError(
            ("step",),
            table["step"],
            f"is too small: a grid has at most {MOST_EXPONENTS} distinct exponents.",
        )
    return tuple(exponents)


def _exponent(value: Any, entry: Location) -> float:
    try:
        return as_exponent(value)
    except ValueError as error:
        raise BadEntryError(entry, value, "give a finite number of at least 1.") from error


def _step(value: Any) -> Decimal:
    try:
        step = float(value) if isinstance(value, Real) and not isinstance(value, bool) else 0.0
    except OverflowError:
        step = inf
    if not 0 < step < inf:
        raise BadEntryError(("step",), value, "give a finite number above 0, such as 0.1.")
    return _decimal(step)


def _decimal(value: float) -> Decimal:
    """Return the decimal that a person writes for a float: 0.1, not 0.1000000000000000055."""
    return Decimal(repr(value))


def describe_exponents(exponents: tuple[float, ...]) -> str:
    """Describe a grid briefly, by its step if it has one.

    Examples
    --------
    >>> describe_exponents((1.1, 1.2, 1.3, 1.4))
    '1.1 to 1.4 in steps of 0.1'
    >>> describe_exponents((1.5, 2.0, 3.0))
    '1.5, 2.0, 3.0'
    """
    decimals = [_decimal(exponent) for exponent in exponents]
    steps = {later - earlier for earlier, later in pairwise(decimals)}
    if len(decimals) > 3 and len(steps) == 1:
        return f"{decimals[0]} to {decimals[-1]} in steps of {steps.pop()}"
    return ", ".join(map(str, decimals))
