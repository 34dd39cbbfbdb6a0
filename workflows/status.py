"""The progress of a sweep, as a table or as JSON."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from storage import Counts, Ledger


def status_facts(ledger: Ledger) -> dict[str, Any]:
    """Return the counts and errors of a ledger, for JSON."""
    return {
        **_facts(ledger.counts),
        "configs": {config: _facts(counts) for config, counts in ledger.by_config.items()},
        "unlabelled": ledger.unlabelled,
        "errors": [{**asdict(tile), "error": error} for tile, error in ledger.failed.items()],
    }


def about_unlabelled(configs: Sequence[str]) -> list[str]:
    """Return a line about the configurations that have no ARI, if there are any.

    Examples
    --------
    >>> about_unlabelled(["mine"]), about_unlabelled([])
    (['No ARI, because there are no labels: mine.'], [])
    """
    return [f"No ARI, because there are no labels: {', '.join(configs)}."] if configs else []


def _facts(counts: Counts) -> dict[str, int]:
    return {"tiles": counts.total, **asdict(counts)}


def status_table(ledger: Ledger) -> Group:
    """Return a table with a row for each configuration, and lines about failed tiles below."""
    table = Table(box=box.SIMPLE_HEAD, show_footer=True)
    total = ledger.counts
    table.add_column("configuration", "all", no_wrap=True)
    for name in ("done", "failed", "missing"):
        table.add_column(name, str(getattr(total, name)), justify="right")
    for config, counts in ledger.by_config.items():
        table.add_row(config, str(counts.done), str(counts.failed), str(counts.missing))
    lines = [f"{tile}: {error}" for tile, error in ledger.failed.items()]
    lines += about_unlabelled(ledger.unlabelled)
    return Group(table, *map(Text, lines))
