"""The two Bokeh figures of a report, a heatmap and a curve. They are empty; scripts fill them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from bokeh.core.types import ID
from bokeh.embed import json_item
from bokeh.models import ColumnDataSource, FixedTicker, HoverTool, LinearColorMapper
from bokeh.models.annotations import Span
from bokeh.models.glyphs import Image
from bokeh.models.renderers import GlyphRenderer
from bokeh.plotting import figure
from bokeh.transform import transform
from matplotlib.colors import to_hex

from workflows.plots.heatmaps import COLOURS

#: Distinguishable for colour-blind people, and never close to white.
PALETTE = tuple(to_hex(COLOURS(level)) for level in range(COLOURS.N))
#: The largest number of labels that fit on a narrow screen.
MOST_LABELS = 9


def figure_items(p1: Sequence[float], p2: Sequence[float]) -> list[Any]:
    """Return the heatmap and the curve as JSON for BokehJS.

    Examples
    --------
    >>> [item["target_id"] for item in figure_items([1.1, 2.0], [1.5])]
    ['heatmap', 'curve']
    """
    figures = (_heatmap(p1, p2), _curve(p1))
    return [json_item(plot, ID(str(plot.name))) for plot in figures]


def _heatmap(p1: Sequence[float], p2: Sequence[float]) -> figure:
    """Return the heatmap. All cells have the same size, whatever the distance between exponents."""
    plot = _plot("heatmap", aspect_ratio=1, x_range=(0, len(p1)), y_range=(0, len(p2)))
    # The array of the image is made here, because scripts can fill an array but not make one.
    empty = np.full((len(p2), len(p1)), np.nan)
    texts: dict[str, Any] = {name: [[]] for name in ("p1", "p2", "shown", "source")}
    cells = ColumnDataSource({"image": [empty], **texts}, name="cells")
    colours = _colours("heatmap")
    image = plot.add_glyph(
        cells, Image(image="image", x=0, y=0, dw=len(p1), dh=len(p2), color_mapper=colours)
    )
    _hover(plot, image, "p1 = @p1, p2 = @p2")
    cursor = _source("heatmap cursor", "x", "y")
    for colour, width in (("white", 5), ("black", 2)):
        plot.rect(
            "x", "y", 1, 1, source=cursor, fill_color=None, line_color=colour, line_width=width
        )
    _star(plot)
    for axis, name, grid in ((plot.xaxis, "p1", p1), (plot.yaxis, "p2", p2)):
        labels = [f"{p:g}" for p in grid]
        axis.axis_label = name
        axis.ticker = FixedTicker(ticks=[place + 0.5 for place in _labelled(labels)])
        axis.major_label_overrides = {place + 0.5: text for place, text in enumerate(labels)}
    return plot


def _curve(p1: Sequence[float]) -> figure:
    around = 0.05 * (p1[-1] - p1[0]) or 0.5
    x_range = (p1[0] - around, p1[-1] + around)
    plot = _plot("curve", aspect_ratio=1.4, x_range=x_range, y_range=(0, 1))
    plot.xaxis.axis_label = "p1"
    points = _source("points", "x", "y", "p1", "painted", "shown", "source")
    plot.line("x", "y", source=points, line_color="gray", line_width=1.5)
    colour = transform("painted", _colours("curve"))
    circles = plot.scatter("x", "y", source=points, size=11, fill_color=colour, line_color="gray")
    _hover(plot, circles, "p1 = @p1")
    cursor = _source("curve cursor", "x", "y")
    plot.scatter("x", "y", source=cursor, size=18, fill_color=None, line_color="gray", line_width=3)
    _star(plot)
    plot.add_layout(Span(dimension="width", line_dash="dashed", name="threshold"))
    return plot


def _source(name: str, *columns: str) -> ColumnDataSource:
    return ColumnDataSource({column: [] for column in columns}, name=name)


def _colours(of: str) -> LinearColorMapper:
    """Return the colours: transparent without a result, white below the range."""
    return LinearColorMapper(
        palette=PALETTE,
        low=0,
        high=1,
        low_color="white",
        nan_color="#00000000",
        name=f"{of} colours",
    )


def _hover(plot: figure, over: "GlyphRenderer[Any]", pair: str) -> None:
    """Add a tooltip for the cell under the pointer. Bokeh escapes the texts from the scripts."""
    text = f"<b>@shown</b><br>{pair}<br>@source"
    box = f'<div style="font: 14px system-ui, sans-serif; line-height: 1.4">{text}</div>'
    plot.add_tools(HoverTool(renderers=[over], tooltips=box))


def _star(plot: figure) -> None:
    """Add the mark of the best pair, which is visible on white and on all colours."""
    best = _source(f"{plot.name} best", "x", "y")
    plot.scatter(
        "x",
        "y",
        source=best,
        marker="star",
        size=20,
        fill_color="white",
        line_color="black",
        line_width=1.5,
    )


def _plot(name: str, **options: Any) -> figure:
    plot = figure(
        name=name,
        sizing_mode="scale_width",
        min_border=0,
        border_fill_color=None,
        background_fill_color=None,
        tools="",
        toolbar_location=None,
        **options,
    )
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_font_size = "16px"
    plot.axis.major_label_text_font_size = "14px"
    return plot


def _labelled(labels: Sequence[str]) -> range:
    """Return the places of the labels that are shown: evenly spaced, with the shortest texts.

    Examples
    --------
    >>> list(_labelled(["1.1", "1.5", "2"]))
    [0, 1, 2]
    >>> grid = [f"{p / 10:g}" for p in range(11, 51)]
    >>> [grid[place] for place in _labelled(grid)]
    ['1.5', '2', '2.5', '3', '3.5', '4', '4.5', '5']
    """
    step = -(-len(labels) // MOST_LABELS)
    choices = (range(first, len(labels), step) for first in range(step))
    return min(choices, key=lambda places: sum(len(labels[place]) for place in places))
