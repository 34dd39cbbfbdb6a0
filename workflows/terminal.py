"""Print tables and counts in a terminal. Columns are never cut: half a number is wrong."""

from collections.abc import Iterable, Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def as_table(
    title: str | None,
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    words: Iterable[str],
    caption: str | None = None,
) -> Table:
    """Return a table. Columns that are not in `words` are numbers, which are right-aligned.

    Examples
    --------
    >>> table = as_table("Best", ["configuration", "ARI"], [["Iris", "0.92"]], ["configuration"])
    >>> [column.justify for column in table.columns]
    ['left', 'right']
    """
    table = Table(
        title=title and Text(title),
        caption=caption and Text(caption),
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        title_justify="left",
        caption_justify="left",
    )
    for name in header:
        table.add_column(name, justify="left" if name in words else "right", no_wrap=True)
    for cells in rows:
        table.add_row(*map(Text, cells))  # as Text, because brackets in a name are not markup
    return table


def print_whole(console: Console, table: Table) -> None:
    """Print a table in its full width, even if the terminal is narrower."""
    needed = console.measure(table, options=console.options.update(max_width=10_000)).maximum
    # Rich cuts everything that is wider than its console.
    Console(file=console.file, width=max(console.width, needed)).print(table)


def counted(count: int, noun: str) -> str:
    """Return a number with its noun.

    Examples
    --------
    >>> counted(1, "tile"), counted(2400, "tile")
    ('1 tile', '2,400 tiles')
    """
    return f"{count} {noun}" if count == 1 else f"{count:,} {noun}s"
