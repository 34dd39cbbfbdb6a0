"""A table of the mean results of all algorithms for each normalisation."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table

from pipeline.score_facts import SCORE_FACTS, suffix
from workflows.summary.algorithms import algorithms, known_results, mean_results
from workflows.terminal import as_table

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
    known = known_results(cube)
    measures = MEASURES | {
        suffix(str(each.score)): each.facts.words for each in known if each.facts
    }
    measure = next((measure for measure in measures if algorithms(measure, known)), "ari")
    titles = algorithms(measure, known)
    columns = [title.replace("rescaled ", "rescaled\n") for title in titles.values()]
    means = {name: mean_results(cube, name).load() for name in titles}
    for normalisation in cube.normalisation.values.tolist():
        yield as_table(
            f"Mean {measures[measure]}, {normalisation} (at the best p1, or p1 and p2)",
            ["configuration", "data sets", *columns],
            [_row(means, config, normalisation) for config in cube.config.values.tolist()],
            ["configuration", *columns],
        )


def _row(means: dict[str, xr.Dataset], config: str, normalisation: str) -> list[str]:
    here = [mean.sel(config=config, normalisation=normalisation) for mean in means.values()]
    return [config, str(max(int(mean.datasets) for mean in here)), *map(_cell, here)]


def _cell(mean: Any) -> str:
    if np.isnan(mean.average):
        return "-"
    exponents = ", ".join(f"{float(mean[dim]):g}" for dim in ("p1", "p2") if dim in mean)
    return f"{float(mean.average):.3f}{exponents and f' ({exponents})'}"
