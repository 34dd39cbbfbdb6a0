"""A summary of a cube: the mean result of each algorithm at its best exponents."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xarray as xr
from rich.table import Table

from pipeline.score_facts import SCORE_FACTS, suffix
from storage.layout.schema import Variable
from storage.query import as_variable, averaged, best_average, results_of, scores
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
    known = [as_variable(cube, name) for name in results_of(cube)]
    measures = MEASURES | {
        suffix(str(each.score)): each.facts.words for each in known if each.facts
    }
    measure = next((measure for measure in measures if _columns(measure, known)), "ari")
    columns = _columns(measure, known)
    means = {name: _mean(cube, name).load() for name in columns}
    for normalisation in cube.normalisation.values.tolist():
        yield as_table(
            f"Mean {measures[measure]}, {normalisation} (at the best p1, or p1 and p2)",
            ["configuration", "data sets", *columns.values()],
            [_row(means, config, normalisation) for config in cube.config.values.tolist()],
            ["configuration", *columns.values()],
        )


def _columns(measure: str, known: Sequence[Variable]) -> dict[str, str]:
    """Return the titles of the columns that the cube has, by variable."""
    names = {each.name: str(each.part) for each in known}
    order = [*(f"{part}_{measure}" for part in COLUMNS), *names]
    wanted = [name for name in order if name in names and name == f"{names[name]}_{measure}"]
    return {name: _title(names[name]) for name in wanted}


def _title(part: str) -> str:
    r"""Return the title of a column, which is the name of a clusterer if it is not in `COLUMNS`.

    Examples
    --------
    >>> _title("imwk"), _title("rescaled_ward")
    ('imwk-means', 'rescaled\nward')
    """
    name = part.removeprefix("rescaled_")
    words = name.replace("_", "-") if name == part else f"rescaled\n{name.replace('_', '-')}"
    return COLUMNS.get(part, words)


def _mean(cube: xr.Dataset, name: str) -> xr.Dataset:
    has_p1 = "p1" in as_variable(cube, name).dims
    return best_average(cube, name) if has_p1 else averaged(scores(cube, name))


def _row(means: dict[str, xr.Dataset], config: str, normalisation: str) -> list[str]:
    here = [mean.sel(config=config, normalisation=normalisation) for mean in means.values()]
    return [config, str(max(int(mean.datasets) for mean in here)), *map(_cell, here)]


def _cell(mean: Any) -> str:
    if np.isnan(mean.average):
        return "-"
    exponents = ", ".join(f"{float(mean[dim]):g}" for dim in ("p1", "p2") if dim in mean)
    return f"{float(mean.average):.3f}{exponents and f' ({exponents})'}"
