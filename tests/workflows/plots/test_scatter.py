from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.collections import Collection
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

from pipeline.core import imwk, normalise, rescale
from pipeline.datasets import synthetic_dataset
from tests.workflows.plots.pixels import pixels_of
from workflows.clustering import cluster_table
from workflows.named_data import named_table
from workflows.plots.scatter import (
    MOST_NAMES,
    draw_clustering,
    draw_rescaling,
    principal_components,
)

DATA = synthetic_dataset("1000x6-3 +3NF", 0, 2020)
_, TABLE = named_table("1000x6-3 +3NF")


def colour_of(points: Collection) -> bytes:
    return np.asarray(points.get_facecolor()).tobytes()


def test_components_equal_those_of_scikit_learn_except_for_the_sign() -> None:
    places, shares = principal_components(DATA.X)
    other = PCA(2).fit(DATA.X)
    theirs = other.transform(DATA.X)
    assert np.abs(places) == pytest.approx(np.abs(theirs), abs=1e-9)
    assert shares == pytest.approx(other.explained_variance_ratio_)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 8), st.integers(1, 4)), elements=st.integers(-9, 9))
)
def test_the_sign_is_fixed_and_nothing_is_lost(X: np.ndarray) -> None:
    places, shares = principal_components(X)
    centred = X - X.mean(axis=0)
    assert places.shape == (len(X), 2)
    assert np.square(places).sum() <= np.square(centred).sum() * (1 + 1e-9) + 1e-9
    assert 0 <= shares[1] <= shares[0] <= 1 + 1e-9
    loadings = centred.T @ places
    for loading, length in zip(loadings.T, np.linalg.norm(places, axis=0), strict=True):
        if length > 1e-6:
            heaviest = np.abs(loading).max()
            assert loading.max() >= heaviest * (1 - 1e-9)


def test_points_are_the_data_before_and_after_rescaling_by_class() -> None:
    X = normalise(DATA.X, "range")
    run = imwk(X, 3, 1.5)
    figure = draw_clustering(cluster_table(TABLE, None, 1.5), "Synthetic")
    assert figure.get_suptitle() == "Synthetic, range normalisation, p1 = 1.5"
    for axes, matrix in zip(figure.axes, (X, rescale(X, run.labels, run.weights)), strict=True):
        places, _ = principal_components(matrix)
        assert len(axes.collections) == 3
        for number, points in enumerate(axes.collections):
            assert np.array_equal(np.asarray(points.get_offsets()), places[DATA.y == number])
    assert len(set(map(colour_of, figure.axes[0].collections))) == 3


def test_k_is_the_number_of_classes_by_default() -> None:
    X = normalise(DATA.X, "range")
    run = imwk(X, 5, 1.5)
    places, _ = principal_components(rescale(X, run.labels, run.weights))
    figure = draw_clustering(cluster_table(TABLE, 5, 1.5), "Synthetic")
    points = figure.axes[1].collections[0]
    assert np.array_equal(np.asarray(points.get_offsets()), places[DATA.y == 0])


def names_in(figure: Figure) -> tuple[str, list[str]]:
    legend = figure.legends[0]
    return legend.get_title().get_text(), [text.get_text() for text in legend.get_texts()]


def test_without_classes_colours_show_clusters() -> None:
    bare = replace(TABLE, classes=None, class_names=())
    found = cluster_table(bare, 4, 1.5)
    figure = draw_clustering(found, "Mine")
    assert names_in(figure) == ("cluster", ["0", "1", "2", "3"])
    assert names_in(draw_clustering(cluster_table(TABLE, 4, 1.5), "Mine"))[0] == "class"
    places, _ = principal_components(normalise(DATA.X, "range"))
    for number, points in enumerate(figure.axes[0].collections):
        here = np.asarray(points.get_offsets())
        assert np.array_equal(here, places[found.labels == number])


def test_classes_keep_their_order_and_names() -> None:
    names = ("2", "10", "1")  # not in the order of text
    figure = draw_clustering(cluster_table(replace(TABLE, class_names=names), None, 1.5), "Mine")
    assert names_in(figure) == ("class", list(names))
    places, _ = principal_components(normalise(DATA.X, "range"))
    second = np.asarray(figure.axes[0].collections[1].get_offsets())
    assert np.array_equal(second, places[DATA.y == 1])


def test_names_of_classes_are_shown_literally() -> None:
    names = ["$a^2$", "W" * 400, "_hidden", "數據"]
    X = np.arange(8.0).reshape(4, 2) ** 2
    figure = draw_rescaling(X, names, [0] * 4, [[0.5, 0.5]], "$\\frac{ " * 99)
    pixels_of(figure)
    shown = [text.get_text() for text in figure.legends[0].get_texts()]
    assert [shown[0], shown[2], shown[3]] == ["$a^2$", "_hidden", "\\u6578\\u64da"]
    width, _ = figure.canvas.get_width_height()
    texts = [*figure.legends[0].get_texts(), *figure.texts]
    assert all(text.get_window_extent().x1 <= width for text in texts)
    assert "$\\frac{" in figure.get_suptitle()


def test_many_classes_all_look_different_and_the_legend_counts_those_it_leaves_out() -> None:
    classes = np.arange(60)
    X = np.stack([classes, classes % 7], axis=1).astype(float)
    figure = draw_rescaling(X, classes, [0] * 60, [[0.5, 0.5]], "Many")
    styles = {
        (colour_of(points), np.asarray(points.get_paths()[0].vertices).tobytes())
        for points in figure.axes[0].collections
    }
    assert len(styles) == 60
    legend = figure.legends[0]
    assert len(legend.get_texts()) == MOST_NAMES
    assert legend.get_title().get_text() == "class (40 more)"
    pixels_of(figure)
    _, height = figure.canvas.get_width_height()
    assert legend.get_window_extent().y0 >= 0
    assert legend.get_window_extent().y1 <= height


@pytest.mark.parametrize("X", [[[1.0]], [[1.0, 2.0]], [[1.0], [2.0]], [[3.0, 3.0], [3.0, 3.0]]])
def test_the_smallest_data_can_be_drawn(X: list[list[float]]) -> None:
    weights = [[1 / len(X[0])] * len(X[0])]
    pixels_of(draw_rescaling(X, [0] * len(X), [0] * len(X), weights, "Small"))
