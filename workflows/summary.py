"""The mean result of each algorithm at its best exponents: a summary, and points of curves."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from rich.table import Table

from pipeline.core.validation import as_choice
from pipeline.score_facts import SCORE_FACTS, suffix
from storage.layout.schema import Variable
from storage.query import (
    as_variable,
    averaged,
    best_average,
    config_coordinates,
    results_of,
    scores,
)
from workflows.errors import ArgumentError
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
#: Algorithms by variable, in the order in which they are listed and drawn.
ALGORITHMS = {f"{part}_ari": title.replace("\n", " ") for part, title in COLUMNS.items()}
#: How exponents are chosen, for captions.
CHOICE = "at the exponents that are best on average over the data sets of each point"


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


def curve_points(cube: xr.Dataset, over: str = "noise_share") -> pd.DataFrame:
    """Return the points of curves: mean ARIs with their standard errors.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube, or a selection of it.
    over : str
        The coordinate of the configurations along the curves, a number such as ``noise_share``.
        Configurations without it are left out.

    Returns
    -------
    pandas.DataFrame
        A row for each normalisation, configuration and algorithm that has results: its coordinates
        that differ between configurations; ``algorithm``; ``mean_ari``, the mean over data sets;
        ``standard_error`` of this mean, NaN for a single data set; ``datasets``, their number; and
        the exponents ``p1`` and ``p2`` with the best mean, NaN if the algorithm has none.

    Raises
    ------
    ArgumentError
        If the configurations do not have the coordinate, if two of them would be one point, or if
        the cube has no ARI.

    Examples
    --------
    >>> coords = {"config": ["a", "b"], "dataset": [0, 1], "normalisation": ["range"], "p1": [1.4]}
    >>> ari = xr.DataArray([[[[0.9]], [[0.7]]], [[[0.5]], [[0.5]]]], coords, name="imwk_ari")
    >>> points = curve_points(ari.to_dataset().assign_coords(k=("config", [3, 6])), over="k")
    >>> points[["k", "algorithm", "mean_ari"]].round(3).values.tolist()
    [[3, 'imwk-means', 0.8], [6, 'imwk-means', 0.5]]
    >>> points.standard_error.round(3).tolist()
    [0.1, 0.0]
    """
    part = _with_coordinate(cube, over)
    names = panel_names(part, over)
    _refuse_equal_places(part, [*names, over])
    known = [name for name in ALGORITHMS if name in results_of(part)]
    if not known:
        raise ArgumentError("This cube has no ARI, so there are no curves.", "config")
    found = pd.concat([_points(part, name) for name in known])
    order = ["normalisation", *names, over]
    sorted_ = found.sort_values(order, kind="stable") if len(found) else found
    columns = [*order, "algorithm", "mean_ari", "standard_error", "datasets", "p1", "p2"]
    return sorted_[columns].reset_index(drop=True)


def panel_names(cube: xr.Dataset, over: str) -> list[str]:
    """Return the coordinates, except `over`, in which configurations differ.

    Examples
    --------
    >>> coords = {"config": ["a", "b"], "k": ("config", [3, 6]), "m": ("config", [9, 9])}
    >>> panel_names(xr.Dataset(coords=coords), "noise_share")
    ['k']
    """
    others = (name for name in config_coordinates(cube) if name != over)
    return [name for name in others if len(set(cube[name].values.tolist())) > 1]


def _with_coordinate(cube: xr.Dataset, over: str) -> xr.Dataset:
    numbers = [name for name in config_coordinates(cube) if cube[name].dtype.kind in "fi"]
    known = cube[as_choice(over, "number of configurations", numbers)].notnull()
    if not known.any():
        raise ArgumentError(f"No configuration has {over}. Choose another coordinate.", "over")
    return cube.isel(config=np.flatnonzero(known.values))


def _refuse_equal_places(cube: xr.Dataset, names: list[str]) -> None:
    seen: dict[tuple[Any, ...], str] = {}
    places = zip(*(cube[name].values.tolist() for name in names), strict=True)
    for config, place in zip(cube["config"].values.tolist(), places, strict=True):
        if place in seen:
            at = ", ".join(f"{name} = {value}" for name, value in zip(names, place, strict=True))
            raise ArgumentError(
                f"{seen[place]} and {config} would be one point ({at}). Select one of them.",
                "config",
            )
        seen[place] = config


def _points(cube: xr.Dataset, name: str) -> pd.DataFrame:
    """Return the points of one algorithm; there is none where the cube has no result."""
    frame = _mean(cube, name).compute().to_dataframe().reset_index().dropna(subset=["average"])
    return frame.assign(
        algorithm=ALGORITHMS[name],
        mean_ari=frame["average"],
        standard_error=frame["spread"] / np.sqrt(frame["datasets"]),
        **{dim: np.nan for dim in ("p1", "p2") if dim not in frame},
    )


def panels(points: pd.DataFrame, over: str) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the title and the points of each panel: a combination of the other coordinates.

    Examples
    --------
    >>> points = pd.DataFrame({"normalisation": "range", "k": [3, 6], "n": [9, 9], "algorithm": ""})
    >>> [title for title, _ in panels(points, over="n")]
    ['k = 3', 'k = 6']
    """
    names = [str(name) for name in points.columns[: points.columns.get_loc("algorithm")]]
    others = [name for name in names if name not in ("normalisation", over)]
    if not others:
        yield "", points
        return
    for values, some in points.groupby(others, sort=True):
        yield (
            ", ".join(f"{name} = {value}" for name, value in zip(others, values, strict=True)),
            some,
        )
