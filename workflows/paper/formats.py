"""Formats of the paper tables with the published values: terminal, Markdown, LaTeX and CSV."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from io import StringIO
from math import isnan

from rich.console import Console

from workflows.paper.comparison import Found, Row, Verdict, closing_line
from workflows.paper.published import PublishedValue
from workflows.paper.sections import Section

#: The columns of the CSV format.
FIELDS = (
    *("table", "config", "normalisation", "algorithm"),
    *("published_mean", "published_std", "published_p1", "published_p2"),
    *("mean", "spread", "restart_spread", "datasets", "p1", "p2"),
    *("difference", "standard_error", "verdict"),
)
_ALGORITHMS = {
    "kmeans++": "k-means++",
    "rescaled-kmeans++": "rescaled k-means++",
    "imwk": "imwk-means",
    "rescaled-imwk": "rescaled imwk-means",
}
_HEADER = ("configuration", "algorithm", "published", "this cube", "data sets")
_EXPONENTS = ("their p1, p2", "our p1, p2")
_JUDGEMENT = ("difference", "SE", "verdict")
#: Short, because the tables are wide. The last line explains SE.
_VERDICTS = {Verdict.WITHIN: "within 2 SE"}
_HINT = (
    "A grid coarser than the paper's, 40 x 40, lowers the values at the best exponents. See "
    "docs/reproduction.md for how values are compared."
)
#: Columns of words. All other columns are numbers, which are right-aligned.
WORDS = ("configuration", "algorithm", "verdict")


def print_tables(rows: Sequence[Row], console: Console) -> None:
    """Print the tables that the cube covers, and the closing lines, in a terminal."""
    for section in sections(rows):
        section.print(console)
    console.print("\n".join(closing_lines(rows)), highlight=False, soft_wrap=True)


def as_markdown(rows: Sequence[Row]) -> str:
    """Return the tables that the cube covers, and the closing lines, as Markdown.

    Examples
    --------
    >>> print(as_markdown([]))
    This cube covers 0 of the 0 published values; 0 of these agree within 2 standard errors (SE).
    """
    tables = (section.as_markdown() for section in sections(rows))
    return "\n\n".join([*tables, *closing_lines(rows)])


def as_latex(rows: Sequence[Row]) -> str:
    r"""Return the tables that the cube covers, and the closing lines, as plain LaTeX.

    Examples
    --------
    >>> print(as_latex([]))
    This cube covers 0 of the 0 published values; 0 of these agree within 2 standard errors (SE).
    """
    tables = (section.as_latex() for section in sections(rows))
    return "\n\n".join([*tables, *closing_lines(rows)])


def as_csv(rows: Sequence[Row]) -> str:
    """Return all published values as CSV, with empty cells where the cube has no value.

    Examples
    --------
    >>> as_csv([]).split(",")[:4]
    ['table', 'config', 'normalisation', 'algorithm']
    """
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(FIELDS)
    writer.writerows(map(_record, rows))
    return text.getvalue().rstrip("\n")


#: The formats that are plain text. The terminal format depends on the width of the terminal.
TEXT_FORMATS: dict[str, Callable[[Sequence[Row]], str]] = {
    "markdown": as_markdown,
    "csv": as_csv,
    "latex": as_latex,
}


def _grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each paper table and normalisation, by title."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        title = f"{row.published.table.title}, {row.published.normalisation}"
        groups.setdefault(title, []).append(row)
    return groups


def sections(rows: Iterable[Row]) -> Iterator[Section]:
    """Yield the tables for which the cube has at least one value.

    Examples
    --------
    >>> from workflows.paper.published import published_values
    >>> found = Found(0.4976, 0.21, 50, 50, float("nan"), float("nan"))
    >>> (section,) = sections([Row(published_values("kmeans_plus_plus_synthetic")[1], found)])
    >>> section.title, section.rows[0][:4]
    ('k-means++, synthetic data, range', ('1000x6-3', 'k-means++', '0.5198', '0.4976'))
    """
    for title, members in _grouped(rows).items():
        if any(row.found for row in members):
            yield _section(title, members)


def _section(title: str, rows: list[Row]) -> Section:
    with_exponents = any(row.published.p1 for row in rows)
    header = (*_HEADER, *(_EXPONENTS if with_exponents else ()), *_JUDGEMENT)
    return Section(title, header, [_cells(row, with_exponents) for row in rows], WORDS)


def _cells(row: Row, with_exponents: bool) -> tuple[str, ...]:
    published, found, digits = row.published, row.found, row.published.decimals
    exponents = (_exponents(published), _exponents(found)) if with_exponents else ()
    verdict = _VERDICTS.get(row.verdict, row.verdict.value)
    algorithm = _ALGORITHMS[published.algorithm]
    label = (published.config, algorithm, f"{published.mean:.{digits}f}")
    if found is None:
        return (*label, "", "", *exponents, "", "", verdict)
    return (
        *label,
        f"{found.mean:.{digits}f}",
        str(found.datasets),
        *exponents,
        f"{row.difference:+.{digits}f}",
        f"{row.standard_error:.{digits}f}",
        verdict,
    )


def _exponents(of: PublishedValue | Found | None) -> str:
    given = () if of is None else (of.p1, of.p2)
    return ", ".join(f"{p:g}" for p in given if p is not None and not isnan(p))


def closing_lines(rows: Sequence[Row]) -> list[str]:
    """Return the lines below the tables: tables that are left out, a hint, and the count.

    If all tables are left out, only the count is returned.

    Examples
    --------
    >>> from workflows.paper.published import published_values
    >>> first, second = published_values("kmeans_plus_plus_synthetic")[:2]
    >>> found = Found(0.4976, 0.21, 50, 50, float("nan"), float("nan"))
    >>> closing_lines([Row(first, found), Row(second, None)])[0]
    'k-means++, synthetic data, range: none of its 1 values is in this cube.'
    >>> len(closing_lines([Row(first, None), Row(second, None)]))
    1
    """
    groups = _grouped(rows)
    absent = [
        f"{title}: none of its {len(members)} values is in this cube."
        for title, members in groups.items()
        if not any(row.found for row in members)
    ]
    some = len(absent) < len(groups)
    outside = any(row.verdict == Verdict.OUTSIDE for row in rows)
    return [*(absent if some else ()), *([_HINT] if outside else ()), closing_line(list(rows))]


def _record(row: Row) -> tuple[object, ...]:
    value, found = row.published, row.found
    label = (value.table.name, value.config, value.normalisation, value.algorithm)
    theirs = (value.mean, value.std, value.p1, value.p2)
    if found is None:
        return (*label, *theirs, *[None] * 8, row.verdict)
    ours = (found.mean, found.spread, found.restart_spread, found.datasets, found.p1, found.p2)
    numbers = (*ours, row.difference, row.standard_error)
    shown = (None if isnan(number) else number for number in numbers)
    return (*label, *theirs, *shown, row.verdict)
