"""Call plug-ins, and check what they return: an error names the plug-in, and what is wrong."""

import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from math import isfinite, isnan
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.normalise import NORMALISATIONS, normalise
from pipeline.core.types import Float64Array, FloatArray, IntArray
from pipeline.core.validation import as_codes, as_labels, as_matrix
from pipeline.errors import PluginError
from pipeline.plugins.kinds import CLUSTERERS, Plugin, Score
from pipeline.plugins.registry import find_plugin
from pipeline.plugins.sklearn_clusterers import FUNCTIONS


def loaded_plugin(kind: str, name: str) -> Plugin:
    """Return a plug-in that a sweep needs, built in or not; raise an error if it is missing."""
    if kind == "clusterer" and name in CLUSTERERS:
        return Plugin(kind, name, "built in", "imwk-sweep", FUNCTIONS[name])
    plugin = find_plugin(kind, name)
    if plugin is None:
        raise PluginError(
            f"There is no {kind} {name!r} in this process. Install the package that has it, or "
            "register it in Python."
        )
    return plugin


def normalised(X: ArrayLike, name: str) -> Float64Array:
    """Normalise data by a built-in normalisation or by a plug-in.

    Parameters
    ----------
    X : array_like, shape (n, m)
        The data, which are not changed.
    name : str
        One of `NORMALISATIONS`, or the name of a plug-in.

    Returns
    -------
    ndarray, shape (n, m)
        The normalised data.

    Raises
    ------
    PluginError
        If the plug-in is missing or fails, or does not return finite numbers of the same shape.

    Examples
    --------
    >>> normalised([[0.0], [4.0]], "range").tolist()
    [[-0.5], [0.5]]
    """
    plugin = None if name in NORMALISATIONS else find_plugin("normalisation", name)
    if plugin is None:
        return normalise(X, name)
    matrix = as_matrix(X)
    with _calling(plugin):
        given = plugin.function(matrix.copy())
    return _matrix(plugin, given, matrix.shape)


def clustered(X: FloatArray, k: int, name: str, seed: int) -> IntArray:
    """Return the labels that a clusterer gives the rows of `X`, as numbers from 0 on.

    Examples
    --------
    >>> clustered(np.array([[0.0], [0.1], [5.0]]), 2, "ward", seed=0).tolist()
    [0, 0, 1]
    """
    plugin = loaded_plugin("clusterer", name)
    with _calling(plugin):
        given = np.asarray(plugin.function(X.copy(), k, seed))
    if given.shape != (len(X),):
        raise PluginError(
            f"{_named(plugin)} returned labels of the shape {given.shape}, not ({len(X)},): one "
            "label for each row."
        )
    if given.dtype.kind not in "iub":
        raise PluginError(f"{_named(plugin)} returned labels that are not whole numbers.")
    found, labels = np.unique(given, return_inverse=True)
    if len(found) > k:
        raise PluginError(
            f"{_named(plugin)} returned {len(found)} different labels, more than k = {k}."
        )
    return np.asarray(labels, dtype=np.int64).reshape(-1)


def scored(X: FloatArray, labels: IntArray, classes: IntArray | None, name: str) -> Float64Array:
    """Return what a plug-in says about labellings (r, n); NaN where it is undefined."""
    plugin = loaded_plugin("score", name)
    return np.array([_score(plugin, X, row, classes) for row in labels], dtype=np.float64)


def generated(name: str, seed: int, parameters: Mapping[str, Any]) -> tuple[Float64Array, IntArray]:
    """Return a data set that a generator makes, and its classes as numbers from 0 on."""
    plugin = loaded_plugin("generator", name)
    with _calling(plugin):
        made, classes = plugin.function(seed, **parameters)
    X = _matrix(plugin, made)
    try:
        y = as_codes(as_labels(classes, "its classes"))
    except InvalidInputError as error:
        raise PluginError(f"{_named(plugin)} returned no classes: {error}") from None
    if y.shape != (len(X),):
        raise PluginError(
            f"{_named(plugin)} returned classes of the shape {y.shape}, not ({len(X)},): one class "
            "for each row."
        )
    return X, y


def _score(plugin: Plugin, X: FloatArray, labels: IntArray, classes: IntArray | None) -> float:
    assert isinstance(plugin.what, Score)
    arguments: list[Any] = [X.copy(), labels.copy()]
    if plugin.what.needs_classes and classes is not None:
        arguments.append(classes.copy())
    with _calling(plugin):
        value = float(plugin.function(*arguments))
    facts = plugin.what.facts(plugin.name)
    usual = isfinite(value) and facts.lowest <= value <= facts.highest
    if not (usual or isnan(value) or value == facts.worst):
        raise PluginError(
            f"{_named(plugin)} returned {value}, outside {facts.lowest} to {facts.highest}."
        )
    return value


def _matrix(plugin: Plugin, given: ArrayLike, shape: tuple[int, ...] | None = None) -> Float64Array:
    try:
        matrix = as_matrix(given, "its result")
    except InvalidInputError as error:
        raise PluginError(f"{_named(plugin)} returned no data: {error}") from None
    if shape is not None and matrix.shape != shape:
        raise PluginError(
            f"{_named(plugin)} returned data of the shape {matrix.shape}, not {shape}."
        )
    return matrix


@contextmanager
def _calling(plugin: Plugin) -> Iterator[None]:
    """Turn any error of a plug-in into one line that names it, with the place in its code."""
    try:
        yield
    except (Exception, SystemExit) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        raise PluginError(
            f"{_named(plugin)} failed with {type(error).__name__}: {error} ({where})."
        ) from None


def _named(plugin: Plugin) -> str:
    text = str(plugin)
    return text[0].upper() + text[1:]
