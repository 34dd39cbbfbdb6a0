"""The best exponents: for each data set, or on average over data sets."""

from collections.abc import Hashable, Sequence

import numpy as np
import xarray as xr

from storage.layout.schema import Variable
from storage.query.averages import averaged, scores
from storage.query.selection import DEFAULT_VARIABLE, as_variable, exponents_of


def best_exponents(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.Dataset:
    """Return the best exponents for each data set, and the result there.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    variable : str
        A result with exponents. If it has restarts, their mean is ranked.

    Returns
    -------
    xarray.Dataset
        ``best``, the highest result or, for scores such as Davies-Bouldin, the lowest; ``p1`` and
        ``p2`` if the result depends on them; with restarts also
        ``spread``, their standard deviation there. Of several equally good pairs, the one with the
        lowest p1, then the lowest p2.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.7], [0.7, 0.2]], {"p1": [1.4, 2.0], "p2": [1.5, 3.0]})
    >>> best = best_exponents(grid.to_dataset(name="rescaled_imwk_ari"))
    >>> float(best.best), float(best.p1), float(best.p2)
    (0.7, 1.4, 3.0)
    """
    dims, values = exponents_of(cube, variable), cube[variable]
    if "restart" not in values.dims:
        found = values.to_dataset(name="best")
    else:
        found = averaged(values, "restart").rename(average="best").drop_vars("restarts")
    return _at_best(found, "best", as_variable(cube, variable), dims)


def best_average(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.Dataset:
    """Return the one pair of exponents that is best on average over data sets.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    variable : str
        A result with exponents.

    Returns
    -------
    xarray.Dataset
        As `averaged` returns it, at ``p1`` and ``p2``. While an extended cube is being filled, some
        pairs have fewer data sets; only the pairs with the most data sets are compared.

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
    competing = over.assign(average=over.average.where(compete))
    best = _at_best(competing, "average", as_variable(cube, variable), dims)
    return best.assign(datasets=best.datasets.fillna(0).astype(np.int64))


def best_scores(cube: xr.Dataset, variable: str, *, average: bool) -> xr.Dataset:
    """Return the best exponents, on average or of each data set, and the result by its own name.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.7]], {"dataset": [0], "p1": [1.4, 2.0]})
    >>> best = best_scores(grid.to_dataset(name="imwk_ari"), "imwk_ari", average=True)
    >>> float(best.imwk_ari), float(best.p1)
    (0.7, 2.0)
    """
    if average:
        return best_average(cube, variable).rename(average=variable)
    return best_exponents(cube, variable).rename(best=variable)


def _at_best(
    values: xr.Dataset, by: str, variable: Variable, dims: Sequence[Hashable]
) -> xr.Dataset:
    """Return all values where `by`, of a result, is best over `dims`, and the exponents there."""
    beside = {name: values[name] for name in values.coords if name not in values.indexes}
    bare = values.drop_vars(beside)  # chunking would make Dask arrays of these coordinates too
    # Dask stacks these dimensions only if each of them is one chunk
    whole = bare.chunk(dict.fromkeys(dims, -1)) if bare.chunks else bare
    cells = whole.stack(cell=dims, create_index=False)
    rank = cells[by] if variable.higher_is_better else -cells[by]
    # A score that is infinite because it is undefined is still better than no result
    best = rank.clip(min=np.finfo(np.float64).min).fillna(-np.inf).argmax("cell")
    order = xr.DataArray(np.arange(cells.sizes["cell"]), dims="cell")
    here = (order == best) & cells[by].notnull()
    found = {name: cells[name].where(here).max("cell") for name in cells.data_vars}
    exponents = {dim: cells[dim].reset_coords(drop=True) for dim in dims}
    at = {dim: grid.where(here).max("cell") for dim, grid in exponents.items()}
    return xr.Dataset(found | at).assign_coords(beside)
