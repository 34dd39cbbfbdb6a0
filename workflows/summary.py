"""A cube in a few figures: the mean agreement of each algorithm at its best exponents."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table

from storage.query import best_average, expected_ari
from storage.select import results_of
from workflows.terminal import as_table

#: The columns of the table, by variable of the cube.
COLUMNS = {
    "kmeans_ari": "k-means++",
    "rescaled_kmeans_ari": "rescaled\nk-means++",
    "imwk_ari": "imwk-means",
    "rescaled_imwk_ari": "rescaled\nimwk-means",
}


def summary_tables(cube: xr.Dataset) -> Iterator[Table]:
    """Make a table of all configurations for each normalisation.

    Parameters
    ----------
    cube : xarray.Dataset
        As `storage.open_cube` returns it.

    Yields
    ------
    rich.table.Table
        The mean of each algorithm that the sweep computes and, for each configuration, how many
        data sets are behind it. None if nothing has labels.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[[[0.5, 0.7]]]], coords).to_dataset(name="imwk_ari")
    >>> [list(column.cells)[0].plain for column in next(summary_tables(cube)).columns]
    ['Iris', '1', '0.700 (2)']
    """
    names = [name for name in COLUMNS if name in results_of(cube)]
    if not names:
        return
    means = {name: _mean(cube, name).load() for name in names}
    for normalisation in cube.normalisation.values.tolist():
        yield as_table(
            f"Mean adjusted Rand index, {normalisation} (at the best p1, or p1 and p2)",
            ["configuration", "data sets", *(COLUMNS[name] for name in names)],
            [_row(means, config, normalisation) for config in cube.config.values.tolist()],
            ["configuration", *COLUMNS.values()],
        )


def _mean(cube: xr.Dataset, name: str) -> xr.Dataset:
    return expected_ari(cube) if name == "kmeans_ari" else best_average(cube, name)


def _row(means: dict[str, xr.Dataset], config: str, normalisation: str) -> list[str]:
    here = [mean.sel(config=config, normalisation=normalisation) for mean in means.values()]
    return [config, str(max(int(mean.datasets) for mean in here)), *map(_cell, here)]


def _cell(mean: Any) -> str:
    if np.isnan(mean.average):
        return "-"
    exponents = ", ".join(f"{float(mean[dim]):g}" for dim in ("p1", "p2") if dim in mean)
    return f"{float(mean.average):.3f}{exponents and f' ({exponents})'}"
