"""What people ask of a cube: means, best exponents, what beats k-means++, and equality.

All functions take an opened cube, or what `select` left of it, and give lazy, labelled xarray.
Every mean comes with the number of data sets behind it, which on a partial cube are not all.
"""

from collections.abc import Hashable, Sequence

import numpy as np
import xarray as xr

from pipeline.core.errors import InvalidInputError
from storage.query.diff import compare_cubes
from storage.query.select import as_variable, results_of, select

__all__ = [
    "averaged",
    "baseline_of",
    "beats_kmeans",
    "best_average",
    "best_exponents",
    "compare_cubes",
    "compared_with_kmeans",
    "expected_ari",
    "scores",
    "select",
    "share_beating_kmeans",
]

#: The rescaled algorithm of the paper's figures.
GRID = "rescaled_imwk_ari"
#: What it has to beat.
BASELINE = "kmeans_ari"


def averaged(values: xr.DataArray, over: str = "dataset") -> xr.Dataset:
    """Average over data sets or restarts, and say over how many.

    Parameters
    ----------
    values : xarray.DataArray
        NaN where there is no result.
    over : str
        The dimension that goes.

    Returns
    -------
    xarray.Dataset
        ``average``; ``spread``, the sample standard deviation, NaN for a single value; and
        ``datasets`` or ``restarts``, how many values are behind them.

    Examples
    --------
    >>> values = xr.DataArray([0.2, 0.4, np.nan], {"dataset": [0, 1, 2]})
    >>> over = averaged(values)
    >>> float(over.average.round(3)), float(over.spread.round(3)), int(over.datasets)
    (0.3, 0.141, 2)
    """
    # Sums and counts, for the means of xarray warn where nothing is there
    count = values.count(over)
    average = values.sum(over) / count.where(count > 0)
    squares = ((values - average) ** 2).sum(over)
    spread = np.sqrt(squares / (count - 1).where(count > 1))
    return xr.Dataset({"average": average, "spread": spread, f"{over}s": count})


def scores(cube: xr.Dataset, variable: str) -> xr.DataArray:
    """Return a result for each data set: as stored or, with restarts, their mean.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it.
    variable : str
        A result, such as ``"rescaled_imwk_ari"``.

    Examples
    --------
    >>> runs = xr.DataArray([[0.2, 0.4], [0.6, 0.6]], dims=("dataset", "restart"))
    >>> scores(runs.to_dataset(name="kmeans_ari"), "kmeans_ari").values.round(3).tolist()
    [0.3, 0.6]
    """
    name = as_variable(cube, variable).name
    values = cube[name]
    if "restart" in values.dims:
        return averaged(values, "restart")["average"].rename(name)
    return values


def expected_ari(cube: xr.Dataset, variable: str = "kmeans_ari") -> xr.Dataset:
    """Return the expected ARI: the mean over restarts, then over data sets.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it.
    variable : str
        A result with restarts.

    Returns
    -------
    xarray.Dataset
        As of `averaged`; the spread is that of data sets.

    Examples
    --------
    >>> runs = xr.DataArray([[0.2, 0.4], [0.6, 0.6]], dims=("dataset", "restart"))
    >>> expected = expected_ari(runs.to_dataset(name="kmeans_ari"))
    >>> float(expected.average.round(3)), int(expected.datasets)
    (0.45, 2)
    """
    return averaged(scores(cube, variable))


def best_exponents(cube: xr.Dataset, variable: str = GRID) -> xr.Dataset:
    """Return the best exponents for each data set, and the result there.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it.
    variable : str
        A result with exponents; with restarts too, their mean counts.

    Returns
    -------
    xarray.Dataset
        ``best`` and ``p1``, ``p2`` as far as the result has them; with restarts also ``spread``,
        their standard deviation there. Of equal pairs that with the lowest p1, then the lowest p2.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.7], [0.7, 0.2]], {"p1": [1.4, 2.0], "p2": [1.5, 3.0]})
    >>> best = best_exponents(grid.to_dataset(name="rescaled_imwk_ari"))
    >>> float(best.best), float(best.p1), float(best.p2)
    (0.7, 1.4, 3.0)
    """
    dims = exponents_of(cube, variable)
    values = cube[variable]
    if "restart" not in values.dims:
        return _at_highest(values.to_dataset(name="best"), "best", dims)
    runs = averaged(values, "restart").rename(average="best")
    return _at_highest(runs.drop_vars("restarts"), "best", dims)


def best_average(cube: xr.Dataset, variable: str = GRID) -> xr.Dataset:
    """Return the one pair of exponents that is best on average over data sets.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it.
    variable : str
        A result with exponents.

    Returns
    -------
    xarray.Dataset
        As of `averaged`, at ``p1`` and ``p2``. While an extended cube is being filled, not all
        pairs have all data sets; then those compete that most data sets have.

    Examples
    --------
    >>> cells = [[[0.1, 0.6]], [[0.5, 0.4]]]
    >>> grid = xr.DataArray(cells, {"dataset": [0, 1], "p1": [1.4], "p2": [1.5, 3.0]})
    >>> best = best_average(grid.to_dataset(name="rescaled_imwk_ari"))
    >>> float(best.average), float(best.p2), int(best.datasets)
    (0.5, 3.0, 2)
    """
    dims = exponents_of(cube, variable)
    over = averaged(scores(cube, variable))
    compete = over.datasets == over.datasets.max(dims)
    best = _at_highest(over.assign(average=over.average.where(compete)), "average", dims)
    return best.assign(datasets=best.datasets.fillna(0).astype(np.int64))


def baseline_of(cube: xr.Dataset, variable: str) -> str | None:
    """Return the ARI of k-means++ that another ARI is held to, or None if there is none.

    Scores without classes are not held to k-means++: they judge by the same plain distances that
    it goes by itself. To beat it there says little, and pictures would often be white all over.

    Examples
    --------
    >>> cube = xr.Dataset({"imwk_ari": 0.5, "imwk_silhouette": 0.3, "kmeans_ari": 0.4})
    >>> baseline_of(cube, "imwk_ari"), baseline_of(cube, "imwk_silhouette")
    ('kmeans_ari', None)
    """
    found = as_variable(cube, variable)
    return BASELINE if found.needs_labels and BASELINE in results_of(cube) else None


def compared_with_kmeans(cube: xr.Dataset, variable: str = GRID) -> xr.Dataset:
    """Average an ARI over data sets, beside the expected one of k-means++.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it, of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.Dataset
        ``average``, NaN where there is no result; ``expected``, that of k-means++ over the same
        data sets; and ``datasets``, how many those are.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> runs = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> compared = compared_with_kmeans(xr.merge([grid, runs]), "imwk_ari")
    >>> compared.average.values.tolist(), compared.expected.values.round(3).tolist()
    ([0.1, 0.6], [0.3, 0.3])
    """
    exponents_of(cube, variable)
    name = baseline_of(cube, variable)
    if name is None:
        raise InvalidInputError(f"This cube has no k-means++ to compare {variable} with.")
    values, baseline = scores(cube, variable), scores(cube, name)
    both = values.notnull() & baseline.notnull()
    ours, theirs = averaged(values.where(both)), averaged(baseline.where(both))
    return ours.drop_vars("spread").assign(expected=theirs["average"])


def beats_kmeans(cube: xr.Dataset, variable: str = GRID) -> xr.DataArray:
    """Say which exponents beat the expected ARI of k-means++, on average over data sets.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it, of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.DataArray
        Booleans; False too where there is no result. Both means are over the same data sets.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> runs = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> beats_kmeans(xr.merge([grid, runs]), "imwk_ari").values.tolist()
    [False, True]
    """
    compared = compared_with_kmeans(cube, variable)
    return (compared["average"] > compared["expected"]).rename("beats_kmeans")


def share_beating_kmeans(cube: xr.Dataset, variable: str = GRID) -> xr.Dataset:
    """Return the share of the grid that beats the expected ARI of k-means++.

    Parameters
    ----------
    cube : xarray.Dataset
        As `open_cube` gives it, of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.Dataset
        ``share``, of the ``cells`` of the grid that have a result of any data set; ``datasets``,
        how many there are at most behind a cell.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> runs = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> share = share_beating_kmeans(xr.merge([grid, runs]), "imwk_ari")
    >>> float(share.share), int(share.cells), int(share.datasets)
    (0.5, 2, 1)
    """
    dims = exponents_of(cube, variable)
    datasets = scores(cube, variable).count("dataset")
    cells = (datasets > 0).sum(dims)
    share = beats_kmeans(cube, variable).sum(dims) / cells.where(cells > 0)
    return xr.Dataset({"share": share, "cells": cells, "datasets": datasets.max(dims)})


def exponents_of(cube: xr.Dataset, variable: str) -> tuple[str, ...]:
    """Return the exponents that a result depends on, or refuse one without any.

    Examples
    --------
    >>> exponents_of(xr.Dataset({"imwk_ari": ("p1", [0.5])}), "imwk_ari")
    ('p1',)
    """
    dims = as_variable(cube, variable).dims
    exponents = tuple(dim for dim in dims if dim in ("p1", "p2"))
    if not exponents:
        raise InvalidInputError(
            f"{variable} has no exponents to choose from. Choose another variable, such as {GRID}."
        )
    return exponents


def _at_highest(values: xr.Dataset, by: str, dims: Sequence[Hashable]) -> xr.Dataset:
    """Return all variables where `by` is highest in the grid of `dims`, and the exponents there."""
    # A cube of more exponents than a chunk has cannot be stacked otherwise
    whole = values.chunk(dict.fromkeys(dims, -1)) if values.chunks else values
    cells = whole.stack(cell=dims, create_index=False)
    place = cells[by].fillna(-np.inf).argmax("cell")
    order = xr.DataArray(np.arange(cells.sizes["cell"]), dims="cell")
    here = (order == place) & cells[by].notnull()
    found = {name: cells[name].where(here).max("cell") for name in cells.data_vars}
    exponents = {dim: cells[dim].reset_coords(drop=True) for dim in dims}
    at = {dim: grid.where(here).max("cell") for dim, grid in exponents.items()}
    return xr.Dataset(found | at)
