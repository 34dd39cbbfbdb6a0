"""Translate pydantic's errors: which key is wrong, what was given, and what is allowed."""

import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from pydantic import ValidationError

from pipeline.errors import BadEntryError, Location, Problem, SpecError

#: Messages cut longer values; the file has them in full.
LONGEST_VALUE = 80
#: Keys that TOML accepts without quotes.
BARE_KEY = re.compile("[A-Za-z0-9_-]+")
#: pydantic's error for a default that depends on another, wrong key.
DEFAULT_DEPENDS = "default_factory_not_called"

#: The keys of every table by its location, in which ``*`` stands for any name.
AllowedKeys = Mapping[Location, Iterable[str]]


def spec_error(error: ValidationError, allowed: AllowedKeys) -> SpecError:
    """Return the `SpecError` for a pydantic error.

    pydantic wraps a `SpecError` that is raised while it validates, because that is a ValueError.
    """
    causes = (details.get("ctx", {}).get("error") for details in error.errors())
    wrapped = next((cause for cause in causes if isinstance(cause, SpecError)), None)
    return wrapped or SpecError(problems_of(error, allowed))


def problems_of(error: ValidationError, allowed: AllowedKeys) -> list[Problem]:
    """Return the problems that a pydantic error reports."""
    found = (dict(details) for details in error.errors(include_url=False))
    return [_problem(each, allowed) for each in found if each["type"] != DEFAULT_DEPENDS]


def _problem(details: dict[str, Any], allowed: AllowedKeys) -> Problem:
    location, value = details["loc"], details["input"]
    cause = details.get("ctx", {}).get("error")
    match details["type"]:
        case "extra_forbidden":
            remedy = unknown_key(location[-1], _keys_at(location[:-1], allowed))
        case "missing":
            return Problem(dotted(location), "is missing; it has no default.")
        case _ if isinstance(cause, BadEntryError):
            location, value, remedy = (*location, *cause.entry), cause.value, str(cause)
        case _ if cause is not None:
            remedy = str(cause)
        case "model_type" | "model_attributes_type" | "dict_type":
            remedy = f"give a table with the keys {', '.join(_keys_at(location, allowed))}."
        case _:
            remedy = f"{details['msg']}."
    return Problem(dotted(location), remedy, shown(value))


def _keys_at(location: Location, allowed: AllowedKeys) -> Iterable[str]:
    return allowed.get(location, allowed.get((*location[:-1], "*"), ()))


def unknown_key(key: object, allowed: Iterable[str]) -> str:
    """Return the message for an unknown key, with the nearest allowed one.

    Examples
    --------
    >>> unknown_key("strat", ["start", "stop"])
    'unknown key. Did you mean start? Allowed here: start, stop.'
    """
    names = list(allowed)
    near = get_close_matches(str(key), names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    return f"unknown key.{hint} Allowed here: {', '.join(names)}."


def dotted(location: Location) -> str:
    """Write a location as a dotted key, as in TOML.

    Examples
    --------
    >>> dotted(("datasets", "synthetic", "configs", 1))
    'datasets.synthetic.configs[1]'
    """
    steps = (f"[{step}]" if isinstance(step, int) else f".{_key(step)}" for step in location)
    return "".join(steps).removeprefix(".") or "the spec"


def _key(name: str) -> str:
    return name if BARE_KEY.fullmatch(name) else json.dumps(name, ensure_ascii=False)


def shown(value: object) -> str:
    """Write a value as in TOML, cut if it is long.

    Examples
    --------
    >>> shown(["range", True])
    '["range", true]'
    """
    try:
        text = json.dumps(value, default=str, ensure_ascii=False)
    except (ValueError, TypeError, RecursionError):  # such as a number of 5,000 digits
        return f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}..."
