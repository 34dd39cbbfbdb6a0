"""Scatter plots as in the paper: a data set before and after rescaling, in two dimensions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib import color_sequences
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import ArrayLike, NDArray

from pipeline.core import rescale
from pipeline.core.agreement import NO_CLASS
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_matrix
from pipeline.execution.threads import one_blas_thread
from workflows.clustering import Clustering, normalised_table
from workflows.plots.style import LARGE, blank_figure, house_style, literal

#: Ten colours that people with any colour vision can distinguish.
COLOURS = color_sequences["petroff10"]
#: Classes also differ in shape. 9 and 10 have no common divisor, so 90 classes are all different.
MARKERS = "os^DvPX<>"
#: Inches: the side of a panel, the space to its left and below, the legend, and its markers.
SIDE, LEFT, BOTTOM, NAMES, KEY = 3.2, 0.75, 0.5, 1.5, 0.5
WIDTH, HEIGHT = 2 * (LEFT + SIDE) + NAMES, BOTTOM + SIDE + 0.55
#: A legend of more names would be longer than the figure is high.
MOST_NAMES = 20


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups that colours distinguish: classes or clusters, with the group of every entity."""

    what: str
    of: NDArray[np.integer]
    names: Sequence[str]


def principal_components(X: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Project entities onto the first two principal components.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows.

    Returns
    -------
    places : ndarray, shape (n, 2)
        The projections. The second column is zeros if `X` has one feature.
    shares : ndarray, shape (2,)
        The share of the variance of `X` along each component; zeros if there is no variance.

    Notes
    -----
    The sign of a component is arbitrary. Here its largest coefficient is positive.

    Examples
    --------
    >>> places, shares = principal_components([[0.0, 0.0], [-3.0, -3.0], [3.0, 3.0]])
    >>> (places[:, 0].round(3) + 0).tolist(), shares.round(3).tolist()
    ([0.0, -4.243, 4.243], [1.0, 0.0])
    """
    matrix = as_matrix(X)
    with one_blas_thread():
        left, lengths, right = np.linalg.svd(matrix - matrix.mean(axis=0), full_matrices=False)
    heaviest = np.abs(right).argmax(axis=1)
    signs = np.sign(right[np.arange(len(right)), heaviest])
    places = np.zeros((len(matrix), 2))
    shares = np.zeros(2)
    found = min(2, len(lengths))
    places[:, :found] = (left * (lengths * signs))[:, :found]
    variance = np.square(lengths)
    shares[:found] = variance[:found] / (variance.sum() or 1)
    return places, shares


def draw_clustering(found: Clustering, name: str) -> Figure:
    """Draw a table before and after it is rescaled by the weights at p1.

    Parameters
    ----------
    found : Clustering
        The clustering, whose first run rescales.
    name : str
        The name of the data, for the title.

    Returns
    -------
    Figure
        As `draw_rescaling` returns it; coloured by cluster if the table has no classes.

    Examples
    --------
    >>> from pipeline.datasets import Table
    >>> from workflows.clustering import cluster_table
    >>> table = Table(np.array([[0.0, 3.0], [1.0, 9.0], [9.0, 1.0], [10.0, 8.0]]), ("a", "b"))
    >>> figure = draw_clustering(cluster_table(table, k=2, p1=1.5), "Mine")
    >>> figure.get_suptitle(), figure.legends[0].get_title().get_text()
    ('Mine, range normalisation, p1 = 1.5', 'cluster')
    """
    table, run = found.table, found.runs["p1"]
    X, _ = normalised_table(table, found.normalisation)
    title = f"{name}, {found.normalisation} normalisation, p1 = {found.exponents['p1']:g}"
    if table.classes is None:
        groups = Groups("cluster", run.labels, [str(number) for number in range(len(run.weights))])
    else:
        groups = _classes(table.classes, table.class_names)
    return _draw(X, groups, run.labels, run.weights, title)


def _classes(classes: IntArray, names: Sequence[str]) -> Groups:
    """Return the classes as groups; noise points are the last group."""
    if (classes != NO_CLASS).all():
        return Groups("class", classes, names)
    return Groups("class", np.where(classes == NO_CLASS, len(names), classes), [*names, "noise"])


def draw_rescaling(
    X: ArrayLike, classes: ArrayLike, labels: ArrayLike, weights: ArrayLike, title: str
) -> Figure:
    """Draw a data set before and after it is rescaled, coloured by class.

    Parameters
    ----------
    X : array_like, shape (n, m)
        The normalised data that imwk-means clustered.
    classes : array_like, shape (n,)
        The true class of every entity, as numbers or names.
    labels, weights : array_like
        The clusters and their feature weights, as `imwk` returns them.
    title : str
        The title, shown literally.

    Returns
    -------
    Figure
        Each panel shows its own principal components; both axes have the same scale.

    Examples
    --------
    >>> X, weights = [[0.0, 0.1], [0.2, 0.0], [1.0, 0.9]], [[0.9, 0.1], [0.5, 0.5]]
    >>> figure = draw_rescaling(X, ["a", "a", "b"], [0, 0, 1], weights, "Three")
    >>> [axes.get_title() for axes in figure.axes]
    ['before rescaling', 'after rescaling']
    """
    names, class_of = np.unique(np.asarray(classes), return_inverse=True)
    groups = Groups("class", class_of, [str(name) for name in names])
    return _draw(X, groups, labels, weights, title)


def _draw(
    X: ArrayLike, groups: Groups, labels: ArrayLike, weights: ArrayLike, title: str
) -> Figure:
    panels = {"before rescaling": as_matrix(X), "after rescaling": rescale(X, labels, weights)}
    with house_style():
        figure = blank_figure(WIDTH, HEIGHT)
        figure.suptitle(
            literal(title, 2 * SIDE), x=LEFT / WIDTH, ha="left", fontsize=LARGE, parse_math=False
        )
        for place, (words, matrix) in enumerate(panels.items()):
            axes = figure.add_axes(_place(place))
            axes.set_title(words)
            _draw_points(axes, matrix, groups)
        _name_groups(figure, groups)
    return figure


def _place(number: int) -> tuple[float, float, float, float]:
    left = LEFT + number * (SIDE + LEFT)
    return left / WIDTH, BOTTOM / HEIGHT, SIDE / WIDTH, SIDE / HEIGHT


def _draw_points(axes: Axes, X: FloatArray, groups: Groups) -> None:
    places, shares = principal_components(X)
    for number in range(len(groups.names)):
        x, y = places[groups.of == number].T
        marker, colour = MARKERS[number % len(MARKERS)], COLOURS[number % len(COLOURS)]
        axes.scatter(x, y, s=12, marker=marker, color=colour, alpha=0.75, linewidths=0)
    axes.set_xlabel(f"first principal component ({shares[0]:.0%})")
    axes.set_ylabel(f"second principal component ({shares[1]:.0%})")
    axes.set_aspect("equal", adjustable="datalim")


def _name_groups(figure: Figure, groups: Groups) -> None:
    names = [literal(name, NAMES - KEY) for name in groups.names]
    more = len(names) - MOST_NAMES
    legend = figure.legend(
        figure.axes[0].collections[:MOST_NAMES],
        [f"group {number}" for number in range(len(names[:MOST_NAMES]))],
        title=groups.what if more <= 0 else f"{groups.what} ({more} more)",
        loc="upper left",
        bbox_to_anchor=(1 - NAMES / WIDTH, (BOTTOM + SIDE) / HEIGHT),
        alignment="left",
        frameon=False,
    )
    # Set afterwards: a legend hides names that start with an underscore, and $ starts a formula.
    for text, name in zip(legend.get_texts(), names, strict=False):
        text.set(text=name, parse_math=False)
