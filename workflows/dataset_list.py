"""List the paper's real data sets and imported batteries: what is on this machine."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from rich.table import Table

from pipeline.datasets.batteries import imported_sets
from pipeline.datasets.uci.cache import cached_file
from pipeline.datasets.uci.catalogue import LICENCE, uci_sets
from workflows.terminal import as_table


def missing_sets() -> list[str]:
    """Return the names of the data sets that are not on this machine, in the paper's order."""
    return [name for name, entry in uci_sets().items() if not cached_file(entry).is_file()]


def dataset_facts() -> list[dict[str, Any]]:
    """Return everything that is known about each data set, for JSON.

    Examples
    --------
    >>> facts = dataset_facts()[9]
    >>> facts["name"], facts["id"], facts["licence"]
    ('Iris', 53, 'CC BY 4.0')
    """
    missing = missing_sets()
    return [
        {
            **asdict(entry),
            "present": name not in missing,
            "licence": LICENCE,
            "citation": entry.citation,
            "archive": entry.archive,
        }
        for name, entry in uci_sets().items()
    ]


def by_battery(sets: Iterable[str]) -> dict[str, list[str]]:
    """Return the names of data sets by battery.

    Examples
    --------
    >>> by_battery(["wut/x1", "wut/x2", "fcps/atom"])
    {'wut': ['wut/x1', 'wut/x2'], 'fcps': ['fcps/atom']}
    """
    found: dict[str, list[str]] = {}
    for name in sets:
        found.setdefault(name.partition("/")[0], []).append(name)
    return found


def imported_batteries() -> dict[str, list[str]]:
    """Return the names of the data sets of all imported batteries, by battery."""
    return by_battery(imported_sets())


def dataset_table() -> Table:
    """Return a table with a row for each data set."""
    missing = missing_sets()
    rows = [
        [
            name,
            entry.key,
            str(entry.rows),
            str(entry.features),
            str(entry.k),
            str(entry.id),
            "missing" if name in missing else "present",
        ]
        for name, entry in uci_sets().items()
    ]
    header = ["data set", "short", "entities", "features", "k", "UCI id", "file"]
    return as_table(None, header, rows, ["data set", "short", "file"])
