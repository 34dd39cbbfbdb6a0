"""Kinds of values that specs are made of: whole numbers within limits, names out of a list."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict

from pipeline.core.validation import as_choice, as_whole_number


class Frozen(BaseModel):
    """A part of a spec: cannot be changed, and has no keys but its own."""

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
    """Accept a list of known names, each once; put them in the order of `known`."""
    names = list(known)

    def check(given: Any) -> tuple[str, ...]:
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise ValueError(f"give a list of {what}s. Known: {', '.join(names)}.")
        chosen = [as_choice(name, what, names) for name in given]
        if len(chosen) < least:
            raise ValueError(f"give at least one {what}. Known: {', '.join(names)}.")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"give every {what} once.")
        return tuple(sorted(chosen, key=names.index))

    return BeforeValidator(check)
