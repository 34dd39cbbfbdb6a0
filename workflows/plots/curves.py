"""Curves: the mean ARI of each algorithm against a number, with standard errors."""

from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from textwrap import fill
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from workflows.errors import ArgumentError
from workflows.plots.panels import BEFORE, Panels
from workflows.plots.style import LARGE, blank_figure, house_style, literal, write_figure
from workflows.summary import ALGORITHMS, CHOICE, panels

#: Colour, marker and line of each algorithm: told apart without colours too.
LOOKS = dict(
    zip(
        ALGORITHMS.values(),
        (("0.45", "o", ":"), ("tab:orange", "s", "--"), ("tab:blue", "^", "-."), ("k", "D", "-")),
        strict=True,
    )
)
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
    layout = Panels(len(drawn), RIGHT)
    figure = blank_figure(layout.width, layout.height)
    for number, (title, points) in enumerate(drawn):
        axes = figure.add_axes(layout.place(number))
        _draw_lines(axes, points, over)
        name = literal(title, layout.side + BEFORE)
        axes.set_title("\n".join(filter(None, [name, _data_sets(points)])), parse_math=False)
        axes.set_ylim(*scale)
        axes.set_xlabel(over if layout.is_last(number) else "")
        axes.set_ylabel("ARI" if layout.is_first(number) else "")
    title = f"Mean ARI and its standard error, {normalisation} normalisation"
    figure.text(*layout.title, title, va="top", fontsize=LARGE)
    figure.text(*layout.subtitle, fill(CHOICE.capitalize(), layout.letters), va="top")
    _add_legend(figure, layout)
    return figure


def _draw_lines(axes: Axes, points: pd.DataFrame, over: str) -> None:
    for algorithm, line in points.groupby("algorithm", sort=False):
        colour, marker, dashes = LOOKS[str(algorithm)]
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
        ncols=len(lines) if layout.columns > 1 else 2,
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
