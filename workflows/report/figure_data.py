"""The numbers in the figures of a page: means, single data sets, best pairs, thresholds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from storage.query import (
    as_variable,
    averaged,
    baseline_of,
    best_average,
    best_exponents,
    results_of,
    scores,
)
from workflows.report.packing import count_codes, packed, score_codes

#: The number of characters for single data sets in a page. With BokehJS and the means of a cube of
#: the paper's size, the page stays below 15 MB.
ROOM = 11_500_000

Picture = dict[str, Any]


@dataclass(frozen=True)
class Shown:
    """A result that can be shown as a figure: as a heatmap, or as a curve over p1.

    Attributes
    ----------
    name, about : str
        The name and the description of the result.
    exponents : tuple of str
        ``("p1", "p2")`` or ``("p1",)``.
    is_count : bool
        Whether the result is a count, which has neither a best pair nor a threshold.
    is_unbounded : bool
        Whether the result is a score that may be below -1 or above 1.
    baseline : str or None
        The ARI of k-means++ that the result is compared with, as `baseline_of` returns it.
    """

    name: str
    about: str
    exponents: tuple[str, ...]
    is_count: bool
    is_unbounded: bool
    baseline: str | None


def shown_results(cube: xr.Dataset) -> list[Shown]:
    """Return the results of a cube that depend on exponents, scores before counts.

    Examples
    --------
    >>> coords = {"p1": [1.4, 2.0], "restart": [0]}
    >>> arrays = {"imwk_ari": ("p1", [0.5, 0.7]), "kmeans_ari": ("restart", [0.6])}
    >>> [(shown.name, shown.baseline) for shown in shown_results(xr.Dataset(arrays, coords))]
    [('imwk_ari', 'kmeans_ari')]
    """
    names = results_of(cube)
    found = [_shown(cube, name) for name in names if "p1" in as_variable(cube, name).dims]
    # Results that depend on both exponents come first, because they are the most important.
    return sorted(found, key=lambda shown: (shown.is_count, -len(shown.exponents)))


def _shown(cube: xr.Dataset, name: str) -> Shown:
    known = as_variable(cube, name)
    exponents = tuple(dim for dim in known.dims if dim in ("p1", "p2"))
    unbounded = known.facts is not None and max(-known.facts.lowest, known.facts.highest) > 1
    return Shown(name, known.about, exponents, known.is_count, unbounded, baseline_of(cube, name))


def figure_data(cube: xr.Dataset, room: int = ROOM) -> list[dict[str, Any]]:
    """Return everything that a page needs to draw the results of a cube, ready for JSON.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube, loaded into memory.
    room : int
        The number of characters for single data sets. If the data sets of a result do not fit, only
        their means are shown.

    Returns
    -------
    list of dict
        The name and description of each result, and its pictures by configuration and
        normalisation. A picture is None if no data set is done.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[[[0.5, 0.7]]]], coords).to_dataset(name="imwk_ari")
    >>> (result,) = figure_data(cube)
    >>> picture = result["pictures"][0][0]
    >>> picture["best"], picture["datasets"]["labels"], picture["datasets"]["best"]
    (1.0, [0], [1.0])
    """
    averages = cube.assign({name: _finite(scores(cube, name)) for name in results_of(cube)})
    results = [_result(averages, shown) for shown in shown_results(cube)]
    for result in results:
        datasets = [picture["datasets"] for row in result["pictures"] for picture in row if picture]
        needed = sum(len(part["grids"]) for part in datasets)
        if needed <= room:
            room -= needed
            continue
        for part in datasets:
            part["grids"] = None
    return results


def _finite(values: xr.DataArray) -> xr.DataArray:
    """Return scores without those that are infinite because they are undefined."""
    return values.where(np.isfinite(values))


def _result(cube: xr.Dataset, shown: Shown) -> dict[str, Any]:
    facts = _facts(cube, shown).transpose("config", "normalisation", "dataset", *shown.exponents)
    pictures = [
        [
            _picture(facts.isel(config=config, normalisation=normalisation), shown)
            for normalisation in range(facts.sizes["normalisation"])
        ]
        for config in range(facts.sizes["config"])
    ]
    return {
        "name": shown.name,
        "about": shown.about,
        "exponents": shown.exponents,
        "counts": shown.is_count,
        "unbounded": shown.is_unbounded,
        "pictures": pictures,
    }


def _facts(cube: xr.Dataset, shown: Shown) -> xr.Dataset:
    """Return the facts about every cell and data set of a result without restarts."""
    values = cube[shown.name]
    there = values.notnull().any(shown.exponents)
    facts = averaged(values)[["average", "datasets"]].assign(values=values, there=there)
    if not shown.is_count:
        means, singles = best_average(cube, shown.name), best_exponents(cube, shown.name)
        facts = facts.assign(
            best=_cell(cube, means),
            highest=means["average"],
            best_singles=_cell(cube, singles),
            highest_singles=singles["best"],
        )
    if shown.baseline:
        # Of the same data sets as the results: a cube that is being extended lacks some of them.
        baseline = cube[shown.baseline].where(there)
        facts = facts.assign(expected=averaged(baseline)["average"], expected_singles=baseline)
    return facts


def _cell(cube: xr.Dataset, best: xr.Dataset) -> xr.DataArray:
    """Return the number of the best cell in its grid, or NaN without a result."""
    cell = xr.zeros_like(best["p1"])
    for dim in (dim for dim in ("p1", "p2") if dim in best):
        place = np.searchsorted(cube[dim].values, best[dim].values)
        cell = cell * cube.sizes[dim] + place
    return cell.where(best["p1"].notnull())


def _picture(facts: xr.Dataset, shown: Shown) -> Picture | None:
    there = facts.isel(dataset=facts["there"].values)
    if not there.sizes["dataset"]:
        return None
    return {
        "means": packed(there["average"].values.astype(np.float32)),
        "numbers": packed(there["datasets"].values.astype(np.uint32)),
        "best": _known(there, "best"),
        "highest": _known(there, "highest"),
        "expected": _known(there, "expected"),
        "datasets": {
            "labels": there["dataset"].values.tolist(),
            "grids": packed(_coded(there["values"].values, shown)),
            "best": _known(there, "best_singles"),
            "highest": _known(there, "highest_singles"),
            "expected": _known(there, "expected_singles"),
        },
    }


def _coded(values: NDArray[np.float64], shown: Shown) -> NDArray[Any]:
    if shown.is_unbounded:
        return values.astype(np.float32)
    return count_codes(values) if shown.is_count else score_codes(values)


def _known(facts: xr.Dataset, name: str) -> Any:
    """Return a number or a list of numbers for JSON, with None for missing values."""
    if name not in facts:
        return None
    values = facts[name]
    return values.astype(object).where(values.notnull(), None).values.tolist()
