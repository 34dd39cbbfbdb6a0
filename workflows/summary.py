"""A cube in a few figures: the mean agreement of each algorithm at its best exponents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import xarray as xr
from rich import box
from rich.table import Table

#: The columns of the table, by variable of the cube.
COLUMNS = {
    "kmeans_ari": "k-means++",
    "rescaled_kmeans_ari": "rescaled\nk-means++",
    "imwk_ari": "imwk-means",
    "rescaled_imwk_ari": "rescaled\nimwk-means",
}


@dataclass(frozen=True)
class Best:
    """The largest mean of an adjusted Rand index, and the exponents that give it."""

    ari: float
    exponents: tuple[float, ...]

    def __str__(self) -> str:
        if np.isnan(self.ari):
            return "-"
        found = ", ".join(f"{p:g}" for p in self.exponents)
        return f"{self.ari:.3f}{found and f' ({found})'}"


def best_mean(ari: xr.DataArray) -> Best:
    """Find the exponents with the best mean over data sets and restarts.

    Parameters
    ----------
    ari : xarray.DataArray
        With or without the dimensions dataset, restart, p1 and p2; NaN where nothing is done.

    Returns
    -------
    Best
        NaN if nothing is done at all.

    Examples
    --------
    >>> values = [[0.1, 0.5], [0.3, 0.3]]
    >>> print(best_mean(xr.DataArray(values, {"p1": [1.5, 2.0]}, ("dataset", "p1"))))
    0.400 (2)
    """
    mean = ari.mean([dim for dim in ("dataset", "restart") if dim in ari.dims])
    if not mean.notnull().any():
        return Best(np.nan, ())
    place = np.unravel_index(int(np.nanargmax(mean.values)), mean.shape)
    found = tuple(mean[dim].values[at].item() for dim, at in zip(mean.dims, place, strict=True))
    return Best(float(mean.values[place]), found)


def summary_tables(cube: xr.Dataset) -> Iterator[Table]:
    """Make a table of all configurations for each normalisation.

    Parameters
    ----------
    cube : xarray.Dataset
        As `storage.open_cube` returns it.

    Yields
    ------
    rich.table.Table
    """
    loaded = cube[list(COLUMNS)].load()
    for normalisation in loaded.normalisation.values.tolist():
        one = loaded.sel(normalisation=normalisation)
        rows = {
            config: [best_mean(one[name].sel(config=config)) for name in COLUMNS]
            for config in loaded.config.values.tolist()
        }
        yield _table(normalisation, rows)


def _table(normalisation: str, rows: Mapping[str, Sequence[Best]]) -> Table:
    title = f"Mean adjusted Rand index, {normalisation} (at the best p1, or p1 and p2)"
    table = Table(title=title, box=box.SIMPLE_HEAD)
    table.add_column("configuration", no_wrap=True)
    for name in COLUMNS.values():
        table.add_column(name, no_wrap=True)
    for config, bests in rows.items():
        table.add_row(config, *map(str, bests))
    return table
