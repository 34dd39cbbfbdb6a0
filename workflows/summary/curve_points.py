"""The points of curves: mean ARIs against a number of the configurations."""

from collections.abc import Iterator
from math import isnan
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from pipeline.core.validation import as_choice
from storage.query import config_coordinates
from workflows.errors import ArgumentError
from workflows.summary.algorithms import algorithms, known_results, mean_results

#: How exponents are chosen, for captions.
CHOICE = "at the exponents that are best on average over the data sets of each point"


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
    known = algorithms("ari", known_results(part))
    if not known:
        raise ArgumentError("This cube has no ARI, so there are no curves.", "config")
    found = pd.concat([_points(part, name, title) for name, title in known.items()])
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
    return [name for name in others if len(set(_known(cube, name))) > 1]


def _known(cube: xr.Dataset, name: str) -> list[Any]:
    """Return the values of a coordinate, None where there is none: NaN differs from itself."""
    return [None if _is_unknown(value) else value for value in cube[name].values.tolist()]


def _is_unknown(value: Any) -> bool:
    """Return whether a coordinate says nothing, as the noise of tables does."""
    return value == "" or (isinstance(value, float) and isnan(value))


def _with_coordinate(cube: xr.Dataset, over: str) -> xr.Dataset:
    numbers = [name for name in config_coordinates(cube) if cube[name].dtype.kind in "fi"]
    known = cube[as_choice(over, "number of configurations", numbers)].notnull()
    if not known.any():
        raise ArgumentError(f"No configuration has {over}. Choose another coordinate.", "over")
    return cube.isel(config=np.flatnonzero(known.values))


def _refuse_equal_places(cube: xr.Dataset, names: list[str]) -> None:
    seen: dict[tuple[Any, ...], str] = {}
    places = zip(*(_known(cube, name) for name in names), strict=True)
    for config, place in zip(cube["config"].values.tolist(), places, strict=True):
        if place in seen:
            at = _in_words(names, place)
            raise ArgumentError(
                f"{seen[place]} and {config} would be one point ({at}). Select one of them.",
                "config",
            )
        seen[place] = config


def _points(cube: xr.Dataset, name: str, title: str) -> pd.DataFrame:
    """Return the points of one algorithm; there is none where the cube has no result."""
    means = mean_results(cube, name).compute()
    frame = means.to_dataframe().reset_index().dropna(subset=["average"])
    return frame.assign(
        algorithm=title,
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
    for values, some in points.groupby(others, sort=True, dropna=False):
        yield _in_words(others, values), some


def _in_words(names: list[str], values: tuple[Any, ...]) -> str:
    pairs = zip(names, values, strict=True)
    known = (pair for pair in pairs if pair[1] is not None and not _is_unknown(pair[1]))
    return ", ".join(f"{name} = {value}" for name, value in known)
