"""The 456 published values. Each paper table is a CSV file in this folder, as printed."""

import csv
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from pipeline.core.validation import as_choice

#: The variable of a cube that corresponds to each algorithm of the paper.
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
        The name of its file.
    title : str
        The title to print above it.
    over : str
        What its means are over, and with one exception (`PublishedValue.std_over`) its standard
        deviations: ``dataset`` or, for real data, ``restart``.
    sample : int
        The number of data sets or restarts that the authors used.
    """

    name: str
    title: str
    over: str
    sample: int


_KMEANS, _BEST = "k-means++", "Best exponents of each data set"
_SYNTHETIC, _REAL = ("dataset", 50), ("restart", 100)

PAPER_TABLES = {
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
class PublishedValue:
    """A published mean ARI.

    Attributes
    ----------
    table : PaperTable
        The paper table that contains it.
    config, normalisation, algorithm : str
        Its row and column.
    mean : float
        The mean as printed.
    std : float or None
        The standard deviation as printed. Deterministic results on real data have none.
    decimals : int
        The number of decimals of the printed mean.
    p1, p2 : float or None
        The exponents printed beside it.
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
    def std_over(self) -> str:
        """What `std` is over: ``dataset`` or ``restart``.

        For rescaled k-means++ at the exponent that is best on average, the paper prints the
        standard deviation over restarts, averaged over data sets: 0.041, for example, where that
        over data sets is about 0.2.
        """
        of_average = self.table.name == "best_average_exponents_synthetic"
        rescaled = self.algorithm == "rescaled-kmeans++"
        return "restart" if of_average and rescaled else self.table.over

    @property
    def rounding(self) -> float:
        """The standard deviation of the error that rounding to `decimals` makes."""
        return float(10**-self.decimals / 12**0.5)


def published_values(table: str) -> tuple[PublishedValue, ...]:
    """Return the published values of one paper table, in its order.

    Parameters
    ----------
    table : str
        One of `PAPER_TABLES`.

    Examples
    --------
    >>> value = published_values("best_average_exponents_synthetic")[3]
    >>> value.config, value.algorithm, value.mean, value.std, value.p1, value.p2
    ('1000x6-3', 'rescaled-imwk', 0.5453, 0.227, 4.4, 2.9)
    """
    return _read(as_choice(table, "paper table", PAPER_TABLES))


@cache
def _read(name: str) -> tuple[PublishedValue, ...]:
    with files(__package__).joinpath(f"{name}.csv").open(encoding="utf-8") as file:
        return tuple(_value(PAPER_TABLES[name], row) for row in csv.DictReader(file))


def _value(table: PaperTable, row: dict[str, str]) -> PublishedValue:
    return PublishedValue(
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
