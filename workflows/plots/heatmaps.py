"""Heatmaps as in the paper: the mean at every pair of exponents, white if k-means++ is better."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any

import numpy as np
import xarray as xr
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import ListedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from storage.layout.schema import Status
from storage.query import (
    DEFAULT_VARIABLE,
    as_variable,
    averaged,
    baseline_of,
    compared_with_kmeans,
    results_of,
    scores,
)
from workflows.errors import ArgumentError
from workflows.plots.panels import BEFORE, Panels
from workflows.plots.style import LARGE, blank_figure, house_style, literal, write_figure

#: Viridis without its bright end: in grey, and to people who cannot see blue, yellow looks white.
COLOURS = ListedColormap(colormaps["viridis"](np.linspace(0, 0.88, 256)), "viridis, no yellow")
WHITE: dict[str, Any] = {"facecolor": "white", "edgecolor": "black"}
NO_RESULT: dict[str, Any] = {"facecolor": "0.88", "edgecolor": "0.6", "hatch": "//////"}
NOT_COMPARED = "not compared with k-means++"
#: The reasons why a cell is white.
NOT_BEATEN, NOT_SCORED = "does not beat k-means++", "fewer than two clusters"
#: The largest number of labels on an axis.
MOST_TICKS = 8
#: The largest number of panels in a figure. More would be unreadable and need too much memory.
MOST_PANELS = 100


def mean_grids(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.Dataset:
    """Return the values of heatmaps: lazy means over data sets, and which of them are coloured.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube, or a selection of it.
    variable : str
        A result that depends on p1 and p2.

    Returns
    -------
    xarray.Dataset
        ``average``, the mean; ``beats``, whether the mean is higher than the expected ARI of
        k-means++; ``datasets``, the number of data sets that have a result; ``asked``, the number
        of data sets in the sweep. Where there is no k-means++ to compare with, ``beats`` is
        whether there is a result of at least two clusters.

    Raises
    ------
    InvalidInputError
        If the variable does not depend on p1 and p2, or there are too many configurations.

    Examples
    --------
    >>> mean_grids(xr.Dataset({"imwk_ari": 0.5, "rescaled_imwk_ari": 0.5}), "imwk_ari")
    Traceback (most recent call last):
    workflows.errors.ArgumentError: imwk_ari does not depend on p1 and p2. Variables of this cube that do: rescaled_imwk_ari.
    """  # noqa: E501 - the message is one line
    _refuse_what_cannot_be_drawn(cube, variable)
    known, compared = as_variable(cube, variable), baseline_of(cube, variable) is not None
    if compared:
        means = compared_with_kmeans(cube, variable)
    else:
        worst = -np.inf if known.facts is None else known.facts.worst
        means = averaged(scores(cube, variable)).drop_vars("spread").assign(expected=worst)
    better, than = means["average"], means["expected"]
    beats = better > than if known.higher_is_better else better < than
    asked = (cube["status"] != Status.NOT_PART).sum("dataset")
    drawn = means.assign(beats=beats, asked=asked)
    return drawn.assign_attrs(variable=variable, about=known.about, compared=compared)


def _refuse_what_cannot_be_drawn(cube: xr.Dataset, variable: str) -> None:
    if as_variable(cube, variable).dims != ("p1", "p2"):
        grids = [name for name in results_of(cube) if as_variable(cube, name).dims == ("p1", "p2")]
        raise ArgumentError(
            f"{variable} does not depend on p1 and p2. "
            f"Variables of this cube that do: {', '.join(grids) or 'none'}.",
            "variable",
        )
    if cube.sizes["config"] > MOST_PANELS:
        raise ArgumentError(
            f"{cube.sizes['config']} configurations are too many for one figure. "
            f"Choose at most {MOST_PANELS}.",
            "config",
        )


def write_heatmaps(
    grids: xr.Dataset, folder: str | PathLike[str], style: str = "png"
) -> Iterator[Path]:
    """Write a figure for each normalisation, with a panel for each configuration.

    Parameters
    ----------
    grids : xarray.Dataset
        The computed return value of `mean_grids`.
    folder : path
        The folder for the files, which is made if it is missing.
    style : {"png", "svg", "pdf"}
        The format of the files.

    Yields
    ------
    Path
        The path of each file, once it is complete.

    Raises
    ------
    OutputError
        If a file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"]}
    >>> grid = xr.DataArray([[[[[0.7]]]]], coords | {"p1": [1.4], "p2": [2.0]})
    >>> cube = xr.Dataset({"rescaled_imwk_ari": grid, "status": grid[..., 0, 0] > 0})
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_heatmaps(mean_grids(cube), folder)]
    ['rescaled_imwk_ari-range.png']
    """
    for normalisation, figure in draw_heatmaps(grids):
        path = Path(folder) / f"{grids.attrs['variable']}-{normalisation}.{style}"
        write_figure(figure, path, style)
        yield path


def draw_heatmaps(grids: xr.Dataset) -> Iterator[tuple[str, Figure]]:
    r"""Draw a figure for each normalisation, all with the same colour scale.

    Parameters
    ----------
    grids : xarray.Dataset
        The computed return value of `mean_grids`.

    Yields
    ------
    str, Figure
        The normalisation, and its figure. A cell has the colour of its mean if it beats k-means++.
        Otherwise it is white, or hatched if there is no result. All cells have the same size,
        whatever the distance between exponents, so the axes count cells from 0.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"]}
    >>> grid = xr.DataArray([[[[[0.7]]]]], coords | {"p1": [1.4], "p2": [2.0]})
    >>> cube = xr.Dataset({"rescaled_imwk_ari": grid, "status": grid[..., 0, 0] > 0})
    >>> [(normalisation, figure)] = draw_heatmaps(mean_grids(cube))
    >>> figure.axes[0].get_title()
    'Iris\n1 data set'
    """
    scale = _scale(grids)
    for normalisation in grids.normalisation.values.tolist():
        with house_style():
            figure = _figure(grids.sel(normalisation=normalisation), scale)
        yield normalisation, figure


def _scale(means: xr.Dataset) -> Normalize:
    """Return a colour scale for all coloured cells, with round numbers at its ends."""
    coloured = means["average"].values[means["beats"].values]
    least, most = (coloured.min(), coloured.max()) if coloured.size else (0, 1)
    ticks = MaxNLocator(nbins=10, steps=[1, 2, 5, 10]).tick_values(least, most)
    return Normalize(ticks[0], ticks[-1])


def _figure(means: xr.Dataset, scale: Normalize) -> Figure:
    panels = Panels(means.sizes["config"])
    figure = blank_figure(panels.width, panels.height)
    for number in range(panels.count):
        here = means.isel(config=number)
        axes = figure.add_axes(panels.place(number))
        _draw_cells(axes, here, scale)
        _label_exponents(axes, here)
        name = literal(str(here.config.values), panels.side + BEFORE)
        axes.set_title(f"{name}\n{_data_sets(here)}", parse_math=False)
        axes.set_xlabel("$p_1$" if panels.is_last(number) else "", fontsize=LARGE)
        axes.set_ylabel("$p_2$" if panels.is_first(number) else "", fontsize=LARGE)
    figure.colorbar(ScalarMappable(scale, COLOURS), cax=figure.add_axes(panels.bar))
    _explain(figure, panels, means)
    return figure


def _explain(figure: Figure, panels: Panels, means: xr.Dataset) -> None:
    """Write a title above the panels, and below them a legend of cells without a colour."""
    title = f"Mean over data sets, {means.normalisation.values} normalisation"
    compared = means.attrs["compared"]
    about = means.attrs["about"] if compared else f"{means.attrs['about']}; {NOT_COMPARED}"
    figure.text(*panels.title, title, va="top", fontsize=LARGE)
    figure.text(*panels.subtitle, fill(about, panels.letters), va="top")
    keys = {
        NOT_BEATEN: (WHITE, compared),
        NOT_SCORED: (WHITE, not compared and (~means["beats"] & means["average"].notnull()).any()),
        "no result": (NO_RESULT, means["average"].isnull().any()),
    }
    patches = [Patch(**look, label=words) for words, (look, seen) in keys.items() if seen]
    figure.legend(
        handles=patches,
        loc="lower left",
        bbox_to_anchor=panels.legend,
        borderaxespad=0,
        borderpad=0,
        ncols=len(keys),
        frameon=False,
        handleheight=1,
    )


def _draw_cells(axes: Axes, means: xr.Dataset, scale: Normalize) -> None:
    means = means.transpose("p2", "p1")
    colours = COLOURS(scale(means["average"].fillna(0).values))
    colours[~means["beats"].values] = 1
    colours[means["average"].isnull().values] = 0  # transparent, to show the hatched background
    axes.patch.set(**NO_RESULT)
    axes.imshow(colours, origin="lower", aspect="auto", interpolation="nearest")


def _label_exponents(axes: Axes, means: xr.Dataset) -> None:
    for axis, dim in ((axes.xaxis, "p1"), (axes.yaxis, "p2")):
        exponents = means[dim].values
        places = _labelled(exponents)
        axis.set_ticks(places, [f"{exponents[place]:g}" for place in places])


def _labelled(exponents: NDArray[np.float64]) -> list[int]:
    """Return the places of labels: all of a few exponents, else the first and the whole numbers."""
    apart = -(-len(exponents) // MOST_TICKS)
    whole = np.flatnonzero(exponents == np.round(exponents)).tolist()
    if apart == 1 or not 2 <= len(whole) <= MOST_TICKS:
        return list(range(0, len(exponents), apart))
    return [0, *whole] if whole[0] >= apart else whole


def _data_sets(means: xr.Dataset) -> str:
    """Return how many data sets the cells of a panel have, and how many the sweep has."""
    least, most, asked = (
        int(count) for count in (means.datasets.min(), means.datasets.max(), means.asked)
    )
    behind = f"{least} to {most}" if least < most else f"{most}"
    of_all = f" of {asked}" if least < asked else ""
    return f"{behind}{of_all} data set{'' if asked == 1 else 's'}"
