"""Descriptions of the paper's 18 real data sets, and the encoding of their raw files."""

import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from io import BytesIO
from typing import Any

from pipeline.core.validation import as_choice
from pipeline.datasets.tables.cleaning import IMPUTE_MEDIAN
from pipeline.datasets.tables.delimited import read_delimited
from pipeline.datasets.tables.table import Table, encode_table

LICENCE = "CC BY 4.0"
#: Stands for all features of a data set.
EVERY = "*"


@dataclass(frozen=True)
class UciSet:
    """One of the paper's real data sets. ``catalogue.toml`` explains the attributes."""

    key: str
    name: str
    title: str
    id: int
    doi: str
    files: tuple[str, ...]
    rows: int
    features: int
    k: int
    raw: str
    matrix: str
    label: str
    separator: str | None = None
    columns: tuple[str, ...] | None = None
    ignore: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    orders: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def archive(self) -> str:
        """Path of the data set's archive, relative to the address of the UCI repository.

        Examples
        --------
        >>> uci_set("Mines vs rocks").archive
        'static/public/151/connectionist+bench+sonar+mines+vs+rocks.zip'
        """
        words = re.findall("[a-z0-9]+", self.title.lower())
        return f"static/public/{self.id}/{'+'.join(words)}.zip"

    @property
    def citation(self) -> str:
        """How to cite the data set."""
        return f"{self.title}. UCI Machine Learning Repository. https://doi.org/{self.doi}"

    def encode(self, content: bytes, source: str) -> Table:
        """Return the paper's table from a raw file. Raise `TableError` for any other file."""
        names = None if self.columns is None else _expanded(self.columns)
        ignored = _expanded(self.ignore)
        features = set(names or ()) - {*ignored, self.label}
        texts = features if self.categorical == (EVERY,) else {*self.categorical}
        columns = read_delimited(
            source,
            lambda: BytesIO(content),
            self.separator,
            names=names,
            texts={*texts, self.label},
            ignore=ignored,
        )
        if self.label not in columns.columns:
            raise columns.error(f"has no column {self.label!r}, so it is not {self.name}.")
        orders = (
            dict.fromkeys(features, self.orders[EVERY]) if EVERY in self.orders else self.orders
        )
        table = encode_table(columns, self.label, IMPUTE_MEDIAN, orders)
        if table.X.shape != (self.rows, self.features):
            rows, width = table.X.shape
            raise columns.error(
                f"has {rows} x {width} numbers, but {self.name} has {self.rows} x {self.features}."
            )
        return table


def _expanded(columns: Iterable[str]) -> list[str]:
    """Return the names with ranges expanded: ``x{1..3}`` stands for x1, x2 and x3."""
    names: list[str] = []
    for column in columns:
        ranged = re.fullmatch(r"(.*)\{(\d+)\.\.(\d+)\}", column)
        if ranged is None:
            names.append(column)
            continue
        stem, first, last = ranged.groups()
        names += [f"{stem}{number}" for number in range(int(first), int(last) + 1)]
    return names


@cache
def uci_sets() -> dict[str, UciSet]:
    """Return all 18 data sets by the paper's name, in the paper's order.

    Examples
    --------
    >>> len(uci_sets()), list(uci_sets())[:2]
    (18, ['Australian CC', 'Balance'])
    """
    text = files(__package__).joinpath("catalogue.toml").read_text(encoding="utf-8")
    return {
        entry["name"]: UciSet(key, **{name: _frozen(value) for name, value in entry.items()})
        for key, entry in tomllib.loads(text).items()
    }


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def uci_set(name: str) -> UciSet:
    """Return a data set by its name in the paper, or by its short name.

    Examples
    --------
    >>> uci_set("soya").title, uci_set("Soya").rows
    ('Soybean (Small)', 47)
    """
    short = {entry.key: entry.name for entry in uci_sets().values()}
    return uci_sets()[as_choice(short.get(name, name), "real data set", uci_sets())]
