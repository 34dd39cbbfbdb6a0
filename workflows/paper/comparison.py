"""Compute the paper tables from a cube, and compare them with the published values."""

from dataclasses import dataclass
from enum import StrEnum
from math import hypot, isnan, sqrt
from typing import Any

import numpy as np
import xarray as xr
from dask.base import compute

from storage.query import averaged, best_average, best_exponents, results_of
from workflows.paper.published import (
    PAPER_TABLES,
    VARIABLES,
    PaperTable,
    PublishedValue,
    published_values,
)

#: Two values agree if they differ by at most this many standard errors.
TOLERANCE = 2


class Verdict(StrEnum):
    """Whether a cube confirms a published value."""

    WITHIN = "within 2 standard errors"
    OUTSIDE = "outside"
    ABSENT = "not in this cube"


@dataclass(frozen=True)
class Found:
    """The cube's value that corresponds to a published value.

    Attributes
    ----------
    mean : float
        The mean over its data sets.
    spread : float
        The standard deviation over data sets or, on real data, over restarts. NaN if there is
        none.
    sample : int
        The number of data sets or restarts that the spread is computed from.
    datasets : int
        The number of data sets that the mean is computed from.
    p1, p2 : float
        The exponents that are best on average, or NaN.
    restart_spread : float
        The standard deviation over restarts, averaged over data sets, where the paper prints it
        in place of the one over data sets. NaN elsewhere.
    """

    mean: float
    spread: float
    sample: int
    datasets: int
    p1: float
    p2: float
    restart_spread: float = np.nan


@dataclass(frozen=True)
class Row:
    """A published value, and the cube's value for it.

    Examples
    --------
    >>> value = published_values("kmeans_plus_plus_synthetic")[1]
    >>> row = Row(value, Found(0.4976, 0.21, 50, 50, np.nan, np.nan))
    >>> round(row.difference, 4), round(row.standard_error, 4), str(row.verdict)
    (-0.0222, 0.043, 'within 2 standard errors')
    """

    published: PublishedValue
    found: Found | None

    @property
    def difference(self) -> float:
        """The cube's mean minus the published mean. NaN if the cube has no value."""
        return self.found.mean - self.published.mean if self.found else np.nan

    @property
    def standard_error(self) -> float:
        """The standard error of the difference: of both means and of the printed one's rounding.

        Both samples are assumed to have one spread in common, because the spread of two or three
        data sets alone is a poor estimate.
        """
        if self.found is None:
            return np.nan
        theirs, ours = self.published.table.sample, self.found.sample
        spread = _pooled((_spread_of(self.published), theirs), (self.found.spread, ours))
        return hypot(spread * sqrt(1 / theirs + 1 / ours), self.published.rounding)

    @property
    def verdict(self) -> Verdict:
        """Whether the difference is small enough."""
        if self.found is None:
            return Verdict.ABSENT
        within = abs(self.difference) <= TOLERANCE * self.standard_error
        return Verdict.WITHIN if within else Verdict.OUTSIDE


def compare_with_paper(cube: xr.Dataset) -> list[Row]:
    """Compute the cube's value for every published value that it has results for.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube. Real data sets must have the paper's names.

    Returns
    -------
    list of Row
        A row for each of the 456 published values, in the order of the paper tables.

    Examples
    --------
    >>> coords = {"config": ["1000x6-3"], "dataset": [0], "normalisation": ["range"]}
    >>> runs = xr.DataArray([[[[0.5, 0.6]]]], coords, [*coords, "restart"], name="kmeans_ari")
    >>> rows = compare_with_paper(runs.to_dataset())
    >>> len(rows), rows[1].verdict.value, rows[2].verdict.value
    (456, 'within 2 standard errors', 'not in this cube')
    """
    queries = {
        (name, algorithm): query
        for name, table in PAPER_TABLES.items()
        for algorithm in dict.fromkeys(value.algorithm for value in published_values(name))
        if (query := _query(cube, table, algorithm)) is not None
    }
    # One call computes all queries, so that every chunk of the cube is read only once.
    (results,) = compute(queries)
    return [
        Row(value, _found(results.get((name, value.algorithm)), value))
        for name in PAPER_TABLES
        for value in published_values(name)
    ]


def closing_line(rows: list[Row]) -> str:
    """Return how many of the published values a cube covers, and how many of these agree.

    Examples
    --------
    >>> print(closing_line([Row(value, None) for value in published_values("best_exponents_real")]))
    This cube covers 0 of the 144 published values; 0 of these agree within 2 standard errors (SE).
    """
    covered = [row for row in rows if row.found]
    agree = sum(row.verdict == Verdict.WITHIN for row in covered)
    return (
        f"This cube covers {len(covered)} of the {len(rows)} published values; "
        f"{agree} of these agree within {TOLERANCE} standard errors (SE)."
    )


def _pooled(*samples: tuple[float, int]) -> float:
    """Return the spread that samples of one population have in common, ignoring NaN."""
    known = [(spread, size - 1) for spread, size in samples if not isnan(spread) and size > 1]
    degrees = sum(freedom for _, freedom in known)
    return sqrt(sum(freedom * spread**2 for spread, freedom in known) / degrees) if known else 0.0


def _spread_of(value: PublishedValue) -> float:
    """Return the published standard deviation over data sets, or over restarts on real data."""
    if value.std_over != value.table.over:
        # The means are compared as means over data sets, so their spread is needed. The paper
        # prints it for the best exponents of each data set.
        value = _in_table("best_exponents_synthetic", value)
    return np.nan if value.std is None else value.std


def _in_table(name: str, value: PublishedValue) -> PublishedValue:
    """Return the value in the same row and column of another paper table."""
    return next(other for other in published_values(name) if _place(other) == _place(value))


def _place(value: PublishedValue) -> tuple[str, str, str]:
    return value.config, value.normalisation, value.algorithm


def _query(cube: xr.Dataset, table: PaperTable, algorithm: str) -> xr.Dataset | None:
    """Return means, spreads and counts for a column of a paper table; None without results."""
    part, variable = _part_of_table(cube, table), VARIABLES[algorithm]
    if variable not in results_of(cube) or not part.sizes["config"] * part.sizes["normalisation"]:
        return None
    if table.name.startswith("best_average") and variable != "kmeans_ari":
        return _of_best_average(part, variable)
    of_datasets = _of_datasets(part, variable)
    if table.over == "restart":
        return _of_restarts(of_datasets, part)
    return averaged(of_datasets["value"]).assign(sample=lambda over: over.datasets)


def _part_of_table(cube: xr.Dataset, table: PaperTable) -> xr.Dataset:
    values = published_values(table.name)
    configs = {value.config for value in values}
    normalisations = {value.normalisation for value in values}
    return cube.sel(
        config=[name for name in cube.config.values.tolist() if name in configs],
        normalisation=[name for name in cube.normalisation.values if name in normalisations],
    )


def _of_best_average(part: xr.Dataset, variable: str) -> xr.Dataset:
    """Return values at the exponents that are best on average, with the spread of restarts."""
    best = best_average(part, variable).assign(sample=lambda found: found.datasets)
    if "restart" not in part[variable].dims:
        return best
    over = averaged(averaged(part[variable], "restart")["spread"])["average"]
    return best.assign(restart_spread=over.where(over["p1"] == best["p1"]).max("p1"))


def _of_datasets(part: xr.Dataset, variable: str) -> xr.Dataset:
    """Return the value of each data set and, for variables with restarts, their spread."""
    if variable == "kmeans_ari":
        return averaged(part[variable], "restart").rename(average="value")
    return (
        best_exponents(part, variable).rename(best="value").drop_vars(["p1", "p2"], errors="ignore")
    )


def _of_restarts(of_datasets: xr.Dataset, part: xr.Dataset) -> xr.Dataset:
    """Return the values of real data sets, one in each configuration, with those of restarts."""
    alone = of_datasets.sel(dataset=0, drop=True).rename(value="average")
    there = alone["average"].notnull()
    spread = alone["spread"] if "spread" in alone else xr.full_like(alone["average"], np.nan)
    sample = part.sizes["restart"] if "spread" in alone else 1
    # Each count is computed on its own: Dask loses a requested value that another one is made of.
    counts = {"datasets": there * 1, "sample": there * sample}
    return xr.Dataset({"average": alone["average"], "spread": spread, **counts})


def _found(results: xr.Dataset | None, value: PublishedValue) -> Found | None:
    if results is None or value.config not in results.config:
        return None
    if value.normalisation not in results.normalisation:
        return None
    here: Any = results.sel(config=value.config, normalisation=value.normalisation)
    if not here.datasets:
        return None
    optional = ("p1", "p2", "restart_spread")
    numbers = (float(here[name]) if name in here else np.nan for name in optional)
    return Found(
        float(here.average), float(here.spread), int(here["sample"]), int(here.datasets), *numbers
    )
