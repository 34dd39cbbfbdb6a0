"""Plug-ins that do what they promise, and plug-ins that do not."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pipeline import (
    InvalidInputError,
    PluginError,
    register_clusterer,
    register_normalisation,
    register_score,
)
from pipeline.plugins.calls import clustered, normalised, scored

X = np.random.default_rng(1).normal(size=(30, 3))
LABELS = np.arange(30) % 3


def raising(*_: Any) -> Any:
    raise RuntimeError("no licence")


def leaving(*_: Any) -> Any:
    sys.exit(3)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising, r"failed with RuntimeError: no licence \(test_calls.py, line \d+\)"),
        (leaving, "failed with SystemExit: 3"),
        (lambda X: X[:, :2], r"returned data of the shape \(30, 2\), not \(30, 3\)"),
        (lambda X: X * np.nan, "returned no data: its result contains nan at row 0"),
        (lambda _: None, "returned no data"),
        (lambda _: "text", "returned no data"),
    ],
)
def test_a_normalisation_that_fails_is_named(function: Callable[..., Any], words: str) -> None:
    register_normalisation("faulty", function, version="1")
    with pytest.raises(PluginError, match=rf"^The normalisation 'faulty' \(.* 1\) {words}"):
        normalised(X, "faulty")


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising, "failed with RuntimeError: no licence"),
        (lambda X, *_: np.zeros(len(X) - 1, dtype=int), r"the shape \(29,\), not \(30,\)"),
        (lambda X, *_: np.full(len(X), np.nan), "labels that are not whole numbers"),
        (lambda X, *_: ["a"] * len(X), "labels that are not whole numbers"),
        (lambda X, *_: np.arange(len(X)), "30 different labels, more than k = 3"),
        (lambda: LABELS, "failed with TypeError"),
    ],
)
def test_a_clusterer_that_fails_is_named(function: Callable[..., Any], words: str) -> None:
    register_clusterer("faulty", function, version="1")
    with pytest.raises(PluginError, match=rf"^The clusterer 'faulty' .*{words}"):
        clustered(X, 3, "faulty", seed=1)


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (raising, "failed with RuntimeError: no licence"),
        (lambda *_: "high", "failed with ValueError"),
        (lambda X, _: X, "failed with TypeError"),
        (lambda *_: 2, "returned 2.0, outside 0"),
        (lambda *_: np.inf, "returned inf, outside 0"),
    ],
)
def test_a_score_that_fails_is_named(function: Callable[..., Any], words: str) -> None:
    register_score("faulty", function, version="1", lowest=0, highest=1)
    with pytest.raises(PluginError, match=rf"^The score 'faulty' .*{words}"):
        scored(X, LABELS[np.newaxis], None, "faulty")


def test_labels_become_numbers_from_0_on_and_may_be_fewer_than_k() -> None:
    register_clusterer("signs", lambda X, *_: np.sign(X[:, 0]).astype(int) * 7, version="1")
    labels = clustered(X, 5, "signs", seed=1)
    np.testing.assert_array_equal(labels, (X[:, 0] > 0).astype(int))


def test_a_plug_in_cannot_change_the_data_of_others() -> None:
    def greedy(data: Any, *others: Any) -> Any:
        data[:] = 0
        for other in others:
            if isinstance(other, np.ndarray):
                other[:] = 0
        return data if not others else (np.zeros(len(data), dtype=int) if len(others) == 2 else 1)

    register_normalisation("greedy", greedy, version="1")
    register_clusterer("greedy", greedy, version="1")
    register_score("greedy", greedy, version="1")
    data, labels = X.copy(), LABELS[np.newaxis].copy()
    normalised(data, "greedy")
    clustered(data, 3, "greedy", seed=1)
    scored(data, labels, None, "greedy")
    np.testing.assert_array_equal(data, X)
    np.testing.assert_array_equal(labels[0], LABELS)


@pytest.mark.parametrize(
    "name", ["", "Ward", "a_b", "os:system", "a.b", "ward", "imwk-2", "x" * 41]
)
def test_names_that_a_plug_in_cannot_have(name: str) -> None:
    with pytest.raises(InvalidInputError, match="cannot be the name of a clusterer"):
        register_clusterer(name, lambda *_: LABELS, version="1")


def test_a_registered_plug_in_needs_a_version_and_a_function() -> None:
    with pytest.raises(InvalidInputError, match="version must be a text"):
        register_clusterer("mine", lambda *_: LABELS, version="")
    with pytest.raises(PluginError, match="is not a function, but str"):
        register_normalisation("mine", "os:system", version="1")  # type: ignore[arg-type]
