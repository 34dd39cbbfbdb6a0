"""What a benchmark found, as Markdown for people and as a dictionary for programs."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Figure = float | str


@dataclass(frozen=True)
class Section:
    """One table, its caption, and figures over all of its rows with a sentence that says them."""

    caption: str
    rows: Sequence["DataclassInstance"]
    summary: dict[str, Figure] = field(default_factory=dict)
    remark: str = ""

    def as_markdown(self) -> str:
        """Return it for people."""
        return "\n\n".join(
            part for part in (self.caption, markdown(self.rows), self.remark) if part
        )

    def as_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {
            "caption": self.caption,
            "rows": [asdict(row) for row in self.rows],
            "summary": self.summary,
        }


def markdown(rows: Sequence["DataclassInstance"]) -> str:
    """Return a table with a column for each field, its name as heading."""
    if not rows:
        return ""
    records = [asdict(row) for row in rows]
    lines = [[name.replace("_", " ") for name in records[0]]]
    lines += [[_written(value) for value in record.values()] for record in records]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    head, *body = (_line(cells, widths) for cells in lines)
    rule = "|" + "|".join("-" * (width + 1) + ":" for width in widths) + "|"
    return "\n".join([head, rule, *body])


def _written(value: Figure) -> str:
    if isinstance(value, str | int):
        return str(value)
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "| " + " | ".join(padded) + " |"
