"""A summary of a cube: the mean result of each algorithm at its best exponents."""

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table

from pipeline.score_facts import SCORE_FACTS, suffix
from storage.query import averaged, best_average, results_of, scores
from workflows.terminal import as_table

#: The titles of the columns, by part of the sweep.
COLUMNS = {
    "kmeans": "k-means++",
    "rescaled_kmeans": "rescaled\nk-means++",
    "imwk": "imwk-means",
    "rescaled_imwk": "rescaled\nimwk-means",
}
#: Names of the scores, by suffix of their variables. The first that the cube has is shown.
MEASURES = {suffix(name): facts.words for name, facts in SCORE_FACTS.items()}


def summary_tables(cube: xr.Dataset) -> Iterator[Table]:
    """Yield a table of all configurations for each normalisation.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.

    Yields
    ------
    rich.table.Table
        The mean ARI of each algorithm that the sweep computes, and the number of data sets of each
        configuration. If no data have labels, the mean silhouette, or the first score that the
        cube has.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> cube = xr.DataArray([[[[0.5, 0.7]]]], coords).to_dataset(name="imwk_ari")
    >>> [list(column.cells)[0].plain for column in next(summary_tables(cube)).columns]
    ['Iris', '1', '0.700 (2)']
    """
    known = results_of(cube)
    measure = next((measure for measure in MEASURES if _columns(measure, known)), "ari")
    columns = _columns(measure, known)
    means = {name: _mean(cube, name).load() for name in columns}
    for normalisation in cube.normalisation.values.tolist():
        yield as_table(
            f"Mean {MEASURES[measure]}, {normalisation} (at the best p1, or p1 and p2)",
            ["configuration", "data sets", *columns.values()],
            [_row(means, config, normalisation) for config in cube.config.values.tolist()],
            ["configuration", *COLUMNS.values()],
        )


def _columns(measure: str, known: Collection[str]) -> dict[str, str]:
    """Return the titles of the columns that the cube has, by variable."""
    titles = {f"{part}_{measure}": title for part, title in COLUMNS.items()}
    return {name: title for name, title in titles.items() if name in known}


def _mean(cube: xr.Dataset, name: str) -> xr.Dataset:
    return averaged(scores(cube, name)) if name.startswith("kmeans_") else best_average(cube, name)


def _row(means: dict[str, xr.Dataset], config: str, normalisation: str) -> list[str]:
    here = [mean.sel(config=config, normalisation=normalisation) for mean in means.values()]
    return [config, str(max(int(mean.datasets) for mean in here)), *map(_cell, here)]


def _cell(mean: Any) -> str:
    if np.isnan(mean.average):
        return "-"
    exponents = ", ".join(f"{float(mean[dim]):g}" for dim in ("p1", "p2") if dim in mean)
    return f"{float(mean.average):.3f}{exponents and f' ({exponents})'}"
