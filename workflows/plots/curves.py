"""Curves: the mean ARI of each algorithm against a number, with standard errors."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflows.errors import ArgumentError
from workflows.plots.panels import BEFORE, LINE, Panels
from workflows.plots.style import LARGE, blank_figure, house_style, literal, write_figure
from workflows.summary.algorithms import TITLES
from workflows.summary.curve_points import CHOICE, panels

#: Colour, marker and line of the paper's algorithms: told apart without colours too.
LOOKS = dict(
    zip(
        TITLES.values(),
        (("0.45", "o", ":"), ("tab:orange", "s", "--"), ("tab:blue", "^", "-."), ("k", "D", "-")),
        strict=True,
    )
)
#: Colours and markers of clusterers, which are dotted, and solid on rescaled data.
OTHERS = (("tab:green", "v"), ("tab:red", "P"), ("tab:purple", "X"), ("tab:brown", "<"))
#: The lines of a legend that fit below all panels.
LEGEND_LINES = 2
#: More panels would be unreadable.
MOST_PANELS = 30
#: The largest number of values with a tick each.
MOST_TICKS = 8
#: Inches at the right of the panels, and the part of the ARI's range that stays free.
RIGHT, FREE = 0.1, 0.05


def write_curves(
    points: pd.DataFrame, over: str, folder: str | PathLike[str], style: str = "png"
) -> Iterator[Path]:
    """Write a figure for each normalisation.

    Parameters
    ----------
    points : pandas.DataFrame
        The return value of `workflows.curve_points`.
    over : str
        The coordinate along the curves.
    folder : path
        The folder for the files, which is made if it is missing.
    style : {"png", "svg", "pdf"}
        The format of the files.

    Yields
    ------
    Path
        The path of each file, once it is complete.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     [path.name for path in write_curves(_EXAMPLE, "k", folder)]
    ['curves-k-range.png']
    """
    for normalisation, figure in draw_curves(points, over):
        path = Path(folder) / f"curves-{over}-{normalisation}.{style}"
        write_figure(figure, path, style)
        yield path


def draw_curves(points: pd.DataFrame, over: str) -> Iterator[tuple[str, Figure]]:
    r"""Draw a figure for each normalisation, with a panel for each combination of coordinates.

    Parameters
    ----------
    points, over
        As for `write_curves`.

    Yields
    ------
    str, Figure
        The normalisation, and its figure. All panels of all figures have the same scale.

    Raises
    ------
    ArgumentError
        If there is no point, or there are too many panels.

    Examples
    --------
    >>> [(normalisation, figure)] = draw_curves(_EXAMPLE, "k")
    >>> figure.axes[0].get_title(), figure.axes[0].get_xlabel()
    ('5 data sets', 'k')
    """
    if points.empty:
        raise ArgumentError("The cube has no such result yet. Submit the sweep, or wait for it.")
    for normalisation, some in points.groupby("normalisation", sort=False):
        drawn = list(panels(some, over))
        if len(drawn) > MOST_PANELS:
            raise ArgumentError(
                f"{len(drawn)} panels are too many for one figure. Select configurations for at "
                f"most {MOST_PANELS}.",
                "where",
            )
        with house_style():
            yield str(normalisation), _figure(drawn, over, str(normalisation), _range(points))


def _figure(
    drawn: list[tuple[str, pd.DataFrame]], over: str, normalisation: str, scale: tuple[float, float]
) -> Figure:
    layout = _layout(drawn)
    figure = blank_figure(layout.width, layout.height)
    looks = _looks(name for _, points in drawn for name in points["algorithm"])
    for number, (title, points) in enumerate(drawn):
        axes = figure.add_axes(layout.place(number))
        _draw_lines(axes, points, over, looks)
        name = literal(title, layout.side + BEFORE)
        axes.set_title("\n".join(filter(None, [name, _data_sets(points)])), parse_math=False)
        axes.set_ylim(*scale)
        axes.set_xlabel(over if layout.is_last(number) else "")
        axes.set_ylabel("ARI" if layout.is_first(number) else "")
    title = f"Mean ARI and its standard error, {normalisation}"
    title += " normalisation" if layout.columns > 1 else ""
    figure.text(*layout.title, title, va="top", fontsize=LARGE)
    figure.text(*layout.subtitle, fill(CHOICE.capitalize(), layout.letters), va="top")
    _add_legend(figure, layout)
    return figure


def _layout(drawn: list[tuple[str, pd.DataFrame]]) -> Panels:
    """Return the places of all panels, with room for the lines of the legend."""
    layout = Panels(len(drawn), RIGHT)
    names = {name for _, points in drawn for name in points["algorithm"]}
    lines = ceil(len(names) / _legend_columns(layout))
    return replace(layout, below=LINE * max(0, lines - LEGEND_LINES))


def _legend_columns(layout: Panels) -> int:
    return 4 if layout.columns > 1 else 2


def _looks(names: Iterable[str]) -> dict[str, tuple[str, str, str]]:
    """Return colour, marker and line of all algorithms; a clusterer has one colour for both.

    Examples
    --------
    >>> list(_looks(["imwk-means", "ward", "rescaled ward"]).values())[-2:]
    [('tab:green', 'v', ':'), ('tab:green', 'v', '-')]
    """
    others = [name for name in dict.fromkeys(names) if name not in LOOKS]
    stems = list(dict.fromkeys(name.removeprefix("rescaled ") for name in others))
    looks = {stem: OTHERS[place % len(OTHERS)] for place, stem in enumerate(stems)}
    lines = {name: ":" if name in looks else "-" for name in others}
    return LOOKS | {name: (*looks[name.removeprefix("rescaled ")], lines[name]) for name in others}


def _draw_lines(
    axes: Axes, points: pd.DataFrame, over: str, looks: dict[str, tuple[str, str, str]]
) -> None:
    for algorithm, line in points.groupby("algorithm", sort=False):
        colour, marker, dashes = looks[str(algorithm)]
        look: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": dashes}
        errors = line["standard_error"].fillna(0)
        axes.errorbar(
            line[over], line["mean_ari"], errors, label=algorithm, capsize=2, ms=4, **look
        )
    values = sorted(set(points[over]))
    if len(values) <= MOST_TICKS:
        axes.set_xticks(values, [f"{value:g}" for value in values])


def _add_legend(figure: Figure, layout: Panels) -> None:
    lines: dict[str, Any] = {}
    for axes in figure.axes:
        handles, names = axes.get_legend_handles_labels()
        lines = dict(zip(names, handles, strict=True)) | lines
    figure.legend(
        handles=list(lines.values()),
        labels=list(lines),
        loc="lower left",
        bbox_to_anchor=layout.legend,
        borderaxespad=0,
        borderpad=0,
        ncols=_legend_columns(layout),
        frameon=False,
    )


def _range(points: pd.DataFrame) -> tuple[float, float]:
    """Return the least and the largest ARI that are drawn, with some room."""
    errors = points["standard_error"].fillna(0)
    low, high = (points["mean_ari"] - errors).min(), (points["mean_ari"] + errors).max()
    room = FREE * max(high - low, FREE)
    return float(low - room), float(high + room)


def _data_sets(points: pd.DataFrame) -> str:
    least, most = int(points["datasets"].min()), int(points["datasets"].max())
    behind = f"{least} to {most}" if least < most else f"{most}"
    return f"{behind} data set{'' if most == 1 else 's'}"


_EXAMPLE = pd.DataFrame(
    {
        "normalisation": "range",
        "k": [3, 6],
        "algorithm": "imwk-means",
        "mean_ari": [0.9, 0.5],
        "standard_error": 0.1,
        "datasets": 5,
    }
)
