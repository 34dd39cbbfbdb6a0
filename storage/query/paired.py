"""Compare two results in pairs: the same data sets, at the exponents of each result."""

from collections.abc import Iterator
from math import sqrt

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.core.types import Float64Array
from storage.query.averages import averaged, scores
from storage.query.best import best_average, best_exponents
from storage.query.selection import as_variable
from storage.query.signed_rank import DECIMALS, signed_rank_p_value

#: The name of the rows over all configurations.
ALL_CONFIGS = "all"
#: The columns of `paired_differences`.
COLUMNS = (
    *("normalisation", "config", "pairs", "first", "second"),
    *("difference", "standard_error", "better", "worse", "p_value"),
)


def best_results(cube: xr.Dataset, variable: str, *, average: bool = False) -> xr.DataArray:
    """Return one result for each data set: at the best of the exponents that the cube has.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube, or a part of it that `select` returned: at one pair of exponents, the results
        are those of this pair.
    variable : str
        A result. If it has restarts, their mean is used.
    average : bool
        Take, for all data sets of a configuration and normalisation, the one pair of exponents that
        is best on average. By default each data set has its own best exponents.

    Examples
    --------
    >>> labels = {"dataset": [0, 1], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[0.1, 0.6], [0.5, 0.4]], labels).to_dataset(name="imwk_ari")
    >>> best_results(cube, "imwk_ari").values.tolist()
    [0.6, 0.5]
    >>> best_results(cube, "imwk_ari", average=True).values.tolist()
    [0.6, 0.4]
    """
    exponents = [dim for dim in ("p1", "p2") if dim in as_variable(cube, variable).dims]
    values = scores(cube, variable)
    if not exponents:
        return values
    if not average:
        return best_exponents(cube, variable)["best"].rename(variable)
    best = best_average(cube, variable)
    for dim in exponents:
        values = values.where(values[dim] == best[dim])
    return averaged(values.stack(cell=exponents, create_index=False), "cell")["average"]


def paired_differences(
    first: xr.DataArray, second: xr.DataArray, *, higher_is_better: bool = True
) -> pd.DataFrame:
    """Compare two results in pairs over data sets.

    Parameters
    ----------
    first, second : xarray.DataArray
        A result for each ``config``, ``dataset`` and ``normalisation``, as `best_results` returns
        it. Pairs are matched by these labels; those that lack a finite value are left out.
    higher_is_better : bool
        Whether the higher result of a pair is the better one.

    Returns
    -------
    pandas.DataFrame
        A row for each normalisation and configuration, and one for ``all`` configurations of the
        normalisation if there are several: ``pairs``, the number of data sets; the means ``first``
        and ``second``; the mean ``difference``, first minus second, with its ``standard_error``;
        in how many pairs the first is ``better`` or ``worse``; and ``p_value`` of Wilcoxon's
        signed-rank test. A single pair has neither standard error nor p-value.

    Examples
    --------
    >>> labels = {"config": ["Iris"], "dataset": [0, 1, 2], "normalisation": ["range"]}
    >>> one = xr.DataArray([[[0.5], [0.7], [0.9]]], labels)
    >>> row = paired_differences(one, one - [[[0.1], [0.1], [0.4]]]).iloc[0]
    >>> int(row.pairs), float(row.difference.round(3)), float(row.standard_error.round(3))
    (3, 0.2, 0.1)
    """
    ours, theirs = xr.align(first.compute(), second.compute(), join="inner")
    sign = 1 if higher_is_better else -1
    rows = [
        {"normalisation": name, "config": config, **_statistics(pairs, sign)}
        for name in ours["normalisation"].values.tolist()
        for config, pairs in _by_config(
            ours.sel(normalisation=name), theirs.sel(normalisation=name)
        )
    ]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _by_config(first: xr.DataArray, second: xr.DataArray) -> Iterator[tuple[str, Float64Array]]:
    """Yield the pairs of each configuration that has some, and of all if there are several."""
    every = {
        name: pairs
        for name in first["config"].values.tolist()
        if (pairs := _pairs(first.sel(config=name), second.sel(config=name))).size
    }
    yield from every.items()
    if len(every) > 1:
        yield ALL_CONFIGS, np.concatenate(list(every.values()), axis=1)


def _pairs(first: xr.DataArray, second: xr.DataArray) -> Float64Array:
    """Return the values of both in rows, where both are finite."""
    both = np.stack([first.values, second.values]).astype(np.float64)
    return np.asarray(both[:, np.isfinite(both).all(axis=0)])


def _statistics(pairs: Float64Array, sign: int) -> dict[str, float]:
    first, second = pairs
    differences = first - second
    count, several = len(differences), len(differences) > 1
    gains = sign * np.round(differences, DECIMALS)
    return {
        "pairs": count,
        "first": float(first.mean()),
        "second": float(second.mean()),
        "difference": float(differences.mean()),
        "standard_error": float(differences.std(ddof=1)) / sqrt(count) if several else np.nan,
        "better": int((gains > 0).sum()),
        "worse": int((gains < 0).sum()),
        "p_value": signed_rank_p_value(differences) if several else np.nan,
    }


def labels_left_out(first: xr.DataArray, second: xr.DataArray) -> Iterator[str]:
    """Yield the configurations and normalisations that only one of two results has.

    Examples
    --------
    >>> one = xr.DataArray([0.5], {"config": ["Iris"]})
    >>> list(labels_left_out(one, xr.DataArray([0.5, 0.6], {"config": ["Iris", "Zoo"]})))
    ['Zoo']
    """
    for dim in ("config", "normalisation"):
        if dim in first.dims:
            ours, theirs = first[dim].values.tolist(), second[dim].values.tolist()
            yield from (name for name in ours if name not in theirs)
            yield from (name for name in theirs if name not in ours)
