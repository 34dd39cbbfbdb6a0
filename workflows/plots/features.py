"""Features ranked by their weights: the median and the quartiles of each."""

from collections.abc import Sequence

import xarray as xr
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from workflows.errors import ArgumentError
from workflows.plots.style import blank_figure, house_style, literal

#: Inches: the names of features, the weights, the space at the right, a feature, and what is above
#: and below the features of a panel.
NAMES, WEIGHTS, RIGHT, FEATURE, ABOVE, BELOW = 1.8, 4.0, 0.2, 0.18, 0.4, 0.45
#: More features, or more panels, would be unreadable.
MOST_FEATURES, MOST_PANELS = 60, 30
COLOURS = {False: "tab:blue", True: "tab:orange"}


def draw_features(ranked: Sequence[xr.Dataset]) -> Figure:
    """Draw the weights of ranked features, a panel for each configuration.

    Parameters
    ----------
    ranked : sequence of xarray.Dataset
        The return values of `storage.ranked_features`.

    Returns
    -------
    Figure
        The features from top to bottom, each with a dot at its median and a line from quartile to
        quartile. Noise features of synthetic data have another colour. Of more than 60 features
        the first ones are drawn, and the title says so.

    Raises
    ------
    ArgumentError
        If there are too many configurations.

    Examples
    --------
    >>> values = {name: ("feature", [0.7, 0.3]) for name in ("lower", "median", "upper")}
    >>> figure = draw_features([xr.Dataset(values, {"feature": ["a", "b"], "config": "mine"})])
    >>> [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    ['a', 'b']
    """
    if len(ranked) > MOST_PANELS:
        raise ArgumentError(
            f"{len(ranked)} configurations are too many for one figure. "
            f"Choose at most {MOST_PANELS}.",
            "config",
        )
    heights = [FEATURE * min(each.sizes["feature"], MOST_FEATURES) for each in ranked]
    width, top = NAMES + WEIGHTS + RIGHT, sum(heights) + (ABOVE + BELOW) * len(ranked)
    with house_style():
        figure, whole = blank_figure(width, top), top
        for each, height in zip(ranked, heights, strict=True):
            bottom = top - ABOVE - height
            place = (NAMES / width, bottom / whole, WEIGHTS / width, height / whole)
            _draw_panel(figure.add_axes(place), each)
            top = bottom - BELOW
    return figure


def _draw_panel(axes: Axes, ranked: xr.Dataset) -> None:
    shown = ranked.isel(feature=slice(MOST_FEATURES))
    noise = shown["noise"].values.tolist() if "noise" in shown.coords else None
    colours = [COLOURS[each] for each in noise or [False] * shown.sizes["feature"]]
    places = range(shown.sizes["feature"])
    axes.hlines(places, shown["lower"], shown["upper"], colours)
    axes.scatter(shown["median"], places, 12, colours, zorder=2)
    names = [literal(str(name), NAMES - 0.2) for name in shown.feature.values]
    axes.set_yticks(places, names, parse_math=False)
    axes.set_ylim(shown.sizes["feature"] - 0.5, -0.5)
    axes.set_xlim(left=0)
    axes.set_xlabel("weight: median and quartiles")
    axes.set_title(_title(ranked), parse_math=False)
    if noise is not None:
        axes.legend(handles=_legend(), loc="lower left")


def _title(ranked: xr.Dataset) -> str:
    name, count = literal(str(ranked.config.item()), WEIGHTS - 1.5), ranked.sizes["feature"]
    cut = f": the first {MOST_FEATURES} of {count:,} features" if count > MOST_FEATURES else ""
    return f"{name}{cut}"


def _legend() -> list[Line2D]:
    names = {False: "feature", True: "noise feature"}
    return [Line2D([], [], color=COLOURS[each], marker=".", label=names[each]) for each in names]
