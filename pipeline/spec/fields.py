"""Types of values in a spec: whole numbers within limits, and names from a list."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from pipeline.core.validation import as_choice, as_whole_number


class FrozenModel(BaseModel):
    """Base of the parts of a spec: immutable, and without unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


def whole_number(what: str, least: int, most: int) -> BeforeValidator:
    """Accept a whole number from `least` to `most`."""

    def check(value: Any) -> int:
        number = as_whole_number(value, what, least)
        if number > most:
            raise ValueError(f"{what} must be a whole number of at most {most}.")
        return number

    return BeforeValidator(check)


def one_of(what: str, known: Iterable[str]) -> BeforeValidator:
    """Accept a known name."""
    return BeforeValidator(lambda name: as_choice(name, what, known))


def some_of(what: str, known: Iterable[str], least: int = 1) -> BeforeValidator:
    """Accept a list of known names without repetition, and sort it into the order of `known`."""
    names = list(known)
    return BeforeValidator(lambda given: chosen_names(given, what, names, least))


def chosen_names(given: Any, what: str, names: list[str], least: int) -> tuple[str, ...]:
    """Return a list of at least some known names, each once, in the order of `names`."""
    if not is_list(given):
        raise ValueError(f"give a list of {what}s. Known: {', '.join(names)}.")
    chosen = [as_choice(name, what, names) for name in given]
    if len(chosen) < least:
        raise ValueError(f"give at least one {what}. Known: {', '.join(names)}.")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"give each {what} once.")
    return tuple(sorted(chosen, key=names.index))


def is_list(given: Any) -> bool:
    """Return whether a value is a list of values, not a text or a table.

    Examples
    --------
    >>> [is_list(given) for given in (["range"], "range", {"range": 1}, 3)]
    [True, False, False, False]
    """
    return isinstance(given, Iterable) and not isinstance(given, str | Mapping)
