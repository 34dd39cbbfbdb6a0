"""The paper's 456 published figures, each table a CSV file here, with its numbers as printed."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline.core.validation import as_choice

#: The results behind the paper's algorithms.
VARIABLES = {
    "kmeans++": "kmeans_ari",
    "rescaled-kmeans++": "rescaled_kmeans_ari",
    "imwk": "imwk_ari",
    "rescaled-imwk": "rescaled_imwk_ari",
}


@dataclass(frozen=True)
class PaperTable:
    """A table of the paper.

    Attributes
    ----------
    name : str
        Of its file.
    title : str
        For people.
    over : str
        What its standard deviations are over: ``dataset`` or, for real data, ``restart``.
    sample : int
        How many of these the authors had.
    """

    name: str
    title: str
    over: str
    sample: int


_KMEANS, _BEST = "k-means++", "Best exponents of each data set"
_SYNTHETIC, _REAL = ("dataset", 50), ("restart", 100)

TABLES = {
    table.name: table
    for table in (
        PaperTable("kmeans_plus_plus_synthetic", f"{_KMEANS}, synthetic data", *_SYNTHETIC),
        PaperTable("kmeans_plus_plus_real", f"{_KMEANS}, real data", *_REAL),
        PaperTable("best_exponents_synthetic", f"{_BEST}, synthetic data", *_SYNTHETIC),
        PaperTable("best_exponents_real", f"{_BEST}, real data", *_REAL),
        PaperTable(
            "best_average_exponents_synthetic",
            "Exponents that are best on average, synthetic data",
            *_SYNTHETIC,
        ),
    )
}


@dataclass(frozen=True)
class Figure:
    """A published mean ARI.

    Attributes
    ----------
    table : PaperTable
        Where it stands.
    config, normalisation, algorithm : str
        Its row and column.
    mean : float
        As printed.
    std : float or None
        As printed; deterministic results on real data have none.
    decimals : int
        To which the mean is printed.
    p1, p2 : float or None
        Exponents printed beside it.
    """

    table: PaperTable
    config: str
    normalisation: str
    algorithm: str
    mean: float
    std: float | None
    decimals: int
    p1: float | None
    p2: float | None

    @property
    def rounding(self) -> float:
        """The standard deviation of the error of rounding to so many decimals."""
        return float(10**-self.decimals / 12**0.5)


def published(table: str) -> tuple[Figure, ...]:
    """Return the figures of one table, in its order.

    Parameters
    ----------
    table : str
        One of `TABLES`.

    Examples
    --------
    >>> figure = published("best_average_exponents_synthetic")[3]
    >>> figure.config, figure.algorithm, figure.mean, figure.std, figure.p1, figure.p2
    ('1000x6-3', 'rescaled-imwk', 0.5453, 0.227, 4.4, 2.9)
    """
    return _read(as_choice(table, "table", TABLES))


@cache
def _read(name: str) -> tuple[Figure, ...]:
    with files(__package__).joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        return tuple(_figure(TABLES[name], row) for row in csv.DictReader(file))


def _figure(table: PaperTable, row: dict[str, str]) -> Figure:
    return Figure(
        table,
        row["config"],
        row["normalisation"],
        row["algorithm"],
        float(row["ari_mean"]),
        _number(row["ari_std"]),
        len(row["ari_mean"].partition(".")[2]),
        _number(row["p1"]),
        _number(row["p2"]),
    )


def _number(text: str) -> float | None:
    return float(text) if text else None
