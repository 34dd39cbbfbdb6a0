"""Write a spec as TOML."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pipeline.spec.problems import dotted

#: The sources of data that have a table for each of their names.
NAMED_SOURCES = ("generated", "matrices", "plugin")


def as_toml(keys: Mapping[str, Any]) -> str:
    r"""Return the keys of a spec as TOML.

    Parameters
    ----------
    keys : mapping
        The keys as they are stored in a cube, without the version of the rules.

    Examples
    --------
    >>> synthetic = {"configs": ["1000x6-3"], "count": 2}
    >>> print(as_toml({"seed": 1, "datasets": {"synthetic": synthetic}, "p1": [2.0], "p2": [3.0]}))
    seed = 1
    <BLANKLINE>
    [datasets.synthetic]
    configs = ["1000x6-3"]
    count = 2
    <BLANKLINE>
    [p1]
    values = [2.0]
    <BLANKLINE>
    [p2]
    values = [3.0]
    <BLANKLINE>
    """
    flat = {key: value for key, value in keys.items() if key not in _TABLES}
    sections = [_entries(flat)]
    sections += [f"[[plugins]]\n{_entries(each)}" for each in keys.get("plugins", ())]
    sections += [f"[{dotted(place)}]\n{_entries(table)}" for place, table in _sources(keys)]
    sections += [f"[{axis}]\n{_entries({'values': keys[axis]})}" for axis in ("p1", "p2")]
    return "\n".join(sections)


#: The keys that are tables in TOML.
_TABLES = ("datasets", "plugins", "p1", "p2")


def _sources(keys: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], Mapping[str, Any]]]:
    for source, table in keys["datasets"].items():
        if source not in NAMED_SOURCES:
            yield ("datasets", source), table
    for source in NAMED_SOURCES:
        for name, entry in keys["datasets"].get(source, {}).items():
            parameters = entry.get("parameters")
            yield (
                ("datasets", source, name),
                {key: value for key, value in entry.items() if key != "parameters"},
            )
            if parameters:
                yield ("datasets", source, name, "parameters"), parameters


def _entries(table: Mapping[str, object]) -> str:
    """Write numbers, strings and lists of them, for which JSON is also TOML."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()
    )
