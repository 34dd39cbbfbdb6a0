"""Tables beside the paper's, for a terminal, a README, a paper or a program."""

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from io import StringIO
from math import isnan

from rich.console import Console

from workflows.paper.comparison import Found, Row, Verdict, closing_line
from workflows.paper.published import Figure
from workflows.terminal import as_table, print_whole

#: The columns of CSV.
FIELDS = (
    *("table", "config", "normalisation", "algorithm"),
    *("published_mean", "published_std", "published_p1", "published_p2"),
    *("mean", "spread", "datasets", "p1", "p2"),
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
#: Short, as tables are wide; the last line says what they mean.
_VERDICTS = {Verdict.WITHIN: "within 2 SE"}
_HINT = (
    "A grid coarser than the paper's, 40 x 40, lowers figures at the best exponents. How all are "
    "compared is in docs/reproduction.md."
)
#: Columns of words; all others are numbers, set to the right.
WORDS = ("configuration", "algorithm", "verdict")


@dataclass(frozen=True)
class Section:
    """One table to show, all cells in words."""

    title: str
    header: tuple[str, ...]
    rows: list[tuple[str, ...]]


def as_terminal(rows: Sequence[Row], console: Console) -> None:
    """Print tables of what the cube covers, and the closing line."""
    for section in sections(rows):
        print_whole(console, as_table(section.title, section.header, section.rows, WORDS))
    console.print("\n".join(closing_lines(rows)), highlight=False, soft_wrap=True)


def as_markdown(rows: Sequence[Row]) -> str:
    """Return tables of what the cube covers, and the closing line, as Markdown.

    Examples
    --------
    >>> print(as_markdown([]))
    This cube covers 0 of the 0 published figures; 0 of these agree within 2 standard errors (SE).
    """
    blocks = []
    for section in sections(rows):
        rule = ("---" if name in WORDS else "---:" for name in section.header)
        lines = (section.header, tuple(rule), *section.rows)
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        blocks.append(f"### {section.title}\n\n{table}")
    return "\n\n".join([*blocks, *closing_lines(rows)])


def as_latex(rows: Sequence[Row]) -> str:
    r"""Return tables of what the cube covers, and the closing line, as LaTeX without packages.

    Examples
    --------
    >>> print(as_latex([]))
    This cube covers 0 of the 0 published figures; 0 of these agree within 2 standard errors (SE).
    """
    blocks = []
    for section in sections(rows):
        columns = "".join("l" if name in WORDS else "r" for name in section.header)
        lines = [" & ".join(cells) + r" \\" for cells in section.rows]
        head = rf"{' & '.join(section.header)} \\"
        table = [rf"\begin{{tabular}}{{{columns}}}", r"\hline", head, r"\hline", *lines, r"\hline"]
        body = "\n".join([*table, r"\end{tabular}"])
        blocks.append(
            f"\\begin{{table}}\n\\caption{{{section.title}.}}\n\\centering\n{body}\n\\end{{table}}"
        )
    return "\n\n".join([*blocks, *closing_lines(rows)])


def as_csv(rows: Sequence[Row]) -> str:
    """Return all published figures as CSV, with empty cells where the cube has nothing.

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


#: What can be printed as text; the terminal's tables depend on its width.
TEXT_FORMATS: dict[str, Callable[[Sequence[Row]], str]] = {
    "markdown": as_markdown,
    "csv": as_csv,
    "latex": as_latex,
}


def _grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each table and normalisation, by title."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        title = f"{row.figure.table.title}, {row.figure.normalisation}"
        groups.setdefault(title, []).append(row)
    return groups


def sections(rows: Iterable[Row]) -> Iterator[Section]:
    """Yield the tables of which the cube has at least one figure.

    Examples
    --------
    >>> from workflows.paper.published import published
    >>> found = Found(0.4976, 0.21, 50, 50, float("nan"), float("nan"))
    >>> (section,) = sections([Row(published("kmeans_plus_plus_synthetic")[1], found)])
    >>> section.title, section.rows[0][:4]
    ('k-means++, synthetic data, range', ('1000x6-3', 'k-means++', '0.5198', '0.4976'))
    """
    for title, members in _grouped(rows).items():
        if any(row.found for row in members):
            yield _section(title, members)


def _section(title: str, rows: list[Row]) -> Section:
    with_exponents = any(row.figure.p1 for row in rows)
    header = (*_HEADER, *(_EXPONENTS if with_exponents else ()), *_JUDGEMENT)
    return Section(title, header, [_cells(row, with_exponents) for row in rows])


def _cells(row: Row, with_exponents: bool) -> tuple[str, ...]:
    figure, found, digits = row.figure, row.found, row.figure.decimals
    exponents = (_exponents(figure), _exponents(found)) if with_exponents else ()
    verdict = _VERDICTS.get(row.verdict, row.verdict.value)
    label = (figure.config, _ALGORITHMS[figure.algorithm], f"{figure.mean:.{digits}f}")
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


def _exponents(of: Figure | Found | None) -> str:
    given = () if of is None else (of.p1, of.p2)
    return ", ".join(f"{p:g}" for p in given if p is not None and not isnan(p))


def closing_lines(rows: Sequence[Row]) -> list[str]:
    """Return a line for each table that is left out, a hint, and the count; that alone if all are.

    Examples
    --------
    >>> from workflows.paper.published import published
    >>> first, second = published("kmeans_plus_plus_synthetic")[:2]
    >>> found = Found(0.4976, 0.21, 50, 50, float("nan"), float("nan"))
    >>> closing_lines([Row(first, found), Row(second, None)])[0]
    'k-means++, synthetic data, range: none of its 1 figures is in this cube.'
    >>> len(closing_lines([Row(first, None), Row(second, None)]))
    1
    """
    groups = _grouped(rows)
    absent = [
        f"{title}: none of its {len(members)} figures is in this cube."
        for title, members in groups.items()
        if not any(row.found for row in members)
    ]
    some = len(absent) < len(groups)
    outside = any(row.verdict == Verdict.OUTSIDE for row in rows)
    return [*(absent if some else ()), *([_HINT] if outside else ()), closing_line(list(rows))]


def _record(row: Row) -> tuple[object, ...]:
    figure, found = row.figure, row.found
    label = (figure.table.name, figure.config, figure.normalisation, figure.algorithm)
    theirs = (figure.mean, figure.std, figure.p1, figure.p2)
    if found is None:
        return (*label, *theirs, *[None] * 7, row.verdict)
    ours = (found.mean, found.spread, found.datasets, found.p1, found.p2)
    numbers = (*ours, row.difference, row.standard_error)
    shown = (None if isnan(number) else number for number in numbers)
    return (*label, *theirs, *shown, row.verdict)
