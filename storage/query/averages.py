"""Means over data sets and restarts, each with the number of values behind it.

All functions of this package take an open cube, or a part of it that `select` returned, and return
lazy, labelled xarray objects. On a partial cube, a mean does not cover all data sets.
"""

import numpy as np
import xarray as xr

from storage.query.selection import as_variable


def averaged(values: xr.DataArray, over: str = "dataset") -> xr.Dataset:
    """Average over data sets or restarts, and count the values.

    Parameters
    ----------
    values : xarray.DataArray
        NaN where there is no result.
    over : str
        The dimension to average over.

    Returns
    -------
    xarray.Dataset
        ``average``; ``spread``, the sample standard deviation, NaN for a single value or if the
        average is infinite; and
        ``datasets`` or ``restarts``, the number of values.

    Examples
    --------
    >>> values = xr.DataArray([0.2, 0.4, np.nan], {"dataset": [0, 1, 2]})
    >>> over = averaged(values)
    >>> float(over.average.round(3)), float(over.spread.round(3)), int(over.datasets)
    (0.3, 0.141, 2)
    """
    # Sums and counts, because the means of xarray warn where there are no values
    count = values.count(over)
    average = values.sum(over) / count.where(count > 0)
    finite = abs(values) < np.inf  # a score may be infinite where it is undefined
    squares = ((values.where(finite) - average) ** 2).sum(over)
    spread = np.sqrt(squares / (count - 1).where((count > 1) & (finite.sum(over) == count)))
    return xr.Dataset({"average": average, "spread": spread, f"{over}s": count})


def scores(cube: xr.Dataset, variable: str) -> xr.DataArray:
    """Return a result for each data set: the stored one or, with restarts, their mean.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    variable : str
        A result, such as ``"rescaled_imwk_ari"``.

    Examples
    --------
    >>> restarts = xr.DataArray([[0.2, 0.4], [0.6, 0.6]], dims=("dataset", "restart"))
    >>> scores(restarts.to_dataset(name="kmeans_ari"), "kmeans_ari").values.round(3).tolist()
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
        An open cube.
    variable : str
        A result with restarts.

    Returns
    -------
    xarray.Dataset
        As `averaged` returns it; ``spread`` is that of the data sets.

    Examples
    --------
    >>> restarts = xr.DataArray([[0.2, 0.4], [0.6, 0.6]], dims=("dataset", "restart"))
    >>> expected = expected_ari(restarts.to_dataset(name="kmeans_ari"))
    >>> float(expected.average.round(3)), int(expected.datasets)
    (0.45, 2)
    """
    return averaged(scores(cube, variable))
