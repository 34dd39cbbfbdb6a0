"""Formats of a paired comparison: terminal, Markdown, LaTeX, CSV and JSON."""

import json
from collections.abc import Iterator
from math import isnan
from typing import Any

from workflows.pairs.comparing import PairedComparison
from workflows.paper.sections import Section

_HEADER = {
    "config": "configuration",
    "pairs": "data sets",
    "first": "first",
    "second": "second",
    "difference": "difference",
    "standard_error": "SE",
    "better": "better",
    "worse": "worse",
    "p_value": "p",
}
_DIGITS = {"first": ".4f", "second": ".4f", "difference": "+.4f", "standard_error": ".4f"}
_ABOUT = (
    "The difference is first minus second, the mean over data sets with its standard error (SE). "
    "Better and worse count the data sets where the first result is. p is that of Wilcoxon's "
    "signed-rank test, two-sided, by the normal approximation, which is rough below 10 data sets."
)


def pair_sections(found: PairedComparison) -> Iterator[Section]:
    """Yield a table for each normalisation."""
    for normalisation, rows in found.rows.groupby("normalisation", sort=False):
        records = rows[list(_HEADER)].to_dict("records")
        cells = [tuple(_shown(str(name), row[name]) for name in _HEADER) for row in records]
        title = f"{found.first} against {found.second}, {normalisation}"
        yield Section(title, tuple(_HEADER.values()), cells, ["configuration"])


def closing_lines(found: PairedComparison) -> list[str]:
    """Return the lines below the tables: what was compared, and what was left out."""
    if found.rows.empty:
        return ["There is no data set for which both results are computed."]
    lines = [f"Results are compared {found.exponents}.", _ABOUT]
    if found.left_out:
        lines.append(f"Only one of the cubes has {', '.join(found.left_out)}; left out.")
    return lines


def pair_facts(found: PairedComparison) -> dict[str, Any]:
    """Return a comparison as a dict for JSON; unknown numbers are None."""
    return {
        "first": found.first,
        "second": found.second,
        "exponents": found.exponents,
        "left_out": list(found.left_out),
        "rows": [
            {name: None if _is_unknown(value) else value for name, value in row.items()}
            for row in found.rows.to_dict("records")
        ],
    }


def as_text(found: PairedComparison, style: str) -> str:
    """Return a comparison as ``markdown``, ``latex``, ``csv`` or ``json``."""
    if style == "json":
        return json.dumps(pair_facts(found), indent=2, ensure_ascii=False)
    if style == "csv":
        return str(found.rows.to_csv(index=False)).rstrip("\n")
    tables = (
        section.as_markdown() if style == "markdown" else section.as_latex()
        for section in pair_sections(found)
    )
    return "\n\n".join([*tables, *closing_lines(found)])


def _shown(name: str, value: Any) -> str:
    """Return a cell as text.

    Examples
    --------
    >>> _shown("difference", 0.25), _shown("p_value", 0.00001), _shown("p_value", float("nan"))
    ('+0.2500', '1e-05', '-')
    """
    if _is_unknown(value):
        return "-"
    if name == "p_value":
        return f"{value:.2g}" if value < 0.001 else f"{value:.3f}"
    return format(value, _DIGITS.get(name, ""))


def _is_unknown(value: Any) -> bool:
    return isinstance(value, float) and isnan(value)
