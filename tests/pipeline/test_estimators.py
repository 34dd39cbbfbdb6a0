"""scikit-learn's own checks, and that the estimators give what the core gives."""

import pickle
import runpy
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, reject, settings
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import check_estimator

from pipeline import estimators
from pipeline.core import ImwkResult, InvalidInputError, imwk, rescale, silhouette
from pipeline.core.types import FloatArray
from pipeline.datasets import synthetic_dataset
from pipeline.estimators import FeatureRescaler, IMWKMeans, RescaledIMWKMeans
from tests.strategies import Case, cases

ALL = [IMWKMeans(), RescaledIMWKMeans(), FeatureRescaler()]


by_name = pytest.mark.parametrize("estimator", ALL, ids=lambda each: type(each).__name__)


@by_name
def test_scikit_learn_finds_nothing_wrong(estimator: Any) -> None:
    checks = check_estimator(estimator, on_skip=None)
    skipped = {check["check_name"] for check in checks if check["status"] != "passed"}
    assert skipped <= {"check_array_api_input"}  # which runs only if the environment asks for it
    assert len(checks) > 40


def blobs() -> FloatArray:
    return synthetic_dataset("1000x6-3", 0, seed=2020).X[::5]


@given(cases())
def test_rows_of_a_converged_run_are_predicted_as_they_were_labelled(case: Case) -> None:
    clusterer = IMWKMeans(case.k, case.p).fit(case.X)
    if clusterer.converged_:
        np.testing.assert_array_equal(clusterer.predict(case.X), clusterer.labels_)


@settings(max_examples=50)
@given(cases())
def test_rows_of_converged_runs_are_rescaled_and_predicted_as_they_were(case: Case) -> None:
    rescaler = FeatureRescaler(case.k, case.p)
    rescaled = rescaler.fit_transform(case.X)
    if rescaler.converged_:
        np.testing.assert_array_equal(rescaler.transform(case.X), rescaled)
    try:
        clusterer = RescaledIMWKMeans(case.k, case.p, 2.0).fit(case.X)
    except InvalidInputError:
        reject()  # rescaled data may be too small for a power
    if clusterer.converged_:
        np.testing.assert_array_equal(clusterer.predict(case.X), clusterer.labels_)


@pytest.mark.parametrize("centre", ["exact", "fixed-step"])
def test_results_are_those_of_the_core(centre: str) -> None:
    X = MinMaxScaler().fit_transform(blobs())
    first = imwk(X, 3, 1.4, centre)
    rescaled = rescale(X, first.labels, first.weights)
    second = imwk(rescaled, 3, 2.6, centre)
    assert_run(IMWKMeans(3, 1.4, centre=centre).fit(X), first)
    assert_run(RescaledIMWKMeans(3, 1.4, 2.6, centre=centre).fit(X), second)
    rescaler = FeatureRescaler(3, 1.4, centre=centre)
    np.testing.assert_array_equal(rescaler.fit_transform(X), rescaled)
    assert_run(rescaler, first)


def assert_run(fitted: Any, run: ImwkResult) -> None:
    np.testing.assert_array_equal(fitted.labels_, run.labels)
    np.testing.assert_array_equal(fitted.cluster_centers_, run.centroids)
    np.testing.assert_array_equal(fitted.feature_weights_, run.weights)
    assert fitted.n_iter_ == run.iterations


def test_a_run_that_did_not_converge_rescales_by_its_labels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    centroids, weights = np.array([[0.0], [4.0]]), np.array([[0.5], [1.0]])
    run = ImwkResult(np.array([0, 1, 1]), centroids, weights, 9, 2, 2, converged=False)
    monkeypatch.setattr(estimators, "imwk", lambda *_: run)
    rescaler = FeatureRescaler(2)
    assert rescaler.fit_transform([[1.0], [1.0], [3.0]]).tolist() == [[0.5], [1.0], [3.0]]
    assert rescaler.transform([[1.0], [1.0], [3.0]]).tolist() == [[0.5], [0.5], [3.0]]
    assert not rescaler.converged_


@by_name
def test_copies_are_equal(estimator: Any) -> None:
    X = blobs()
    fitted = clone(estimator).set_params(n_clusters=4).fit(X)
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.predict(X), fitted.predict(X))
    again = clone(fitted)
    assert not hasattr(again, "labels_")
    np.testing.assert_array_equal(again.fit(X).labels_, fitted.labels_)


def test_a_search_in_a_pipeline_chooses_exponents_by_the_silhouette() -> None:
    X = blobs()
    pipeline = make_pipeline(MinMaxScaler(), RescaledIMWKMeans())
    grid = {"rescaledimwkmeans__p1": [1.2, 2.0], "rescaledimwkmeans__p2": [1.5, 3.0]}
    folds = [(np.arange(200), np.arange(200))]
    search = GridSearchCV(pipeline, grid, cv=folds).fit(X)
    scaled = MinMaxScaler().fit_transform(X)
    labels = [
        RescaledIMWKMeans(3, p1, p2).fit(scaled).predict(scaled)
        for p1 in (1.2, 2.0)
        for p2 in (1.5, 3.0)
    ]
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], silhouette(scaled, labels))


def test_a_search_with_classes_takes_a_scorer() -> None:
    data = synthetic_dataset("1000x6-3", 0, seed=2020)
    pipeline = make_pipeline(MinMaxScaler(), FeatureRescaler(), IMWKMeans())
    grid = {"featurerescaler__p": [1.2, 3.0], "imwkmeans__p": [1.5, 3.0]}
    search = GridSearchCV(pipeline, grid, scoring="adjusted_rand_score", cv=2)
    search.fit(data.X[::5], data.y[::5])
    assert 0.2 < search.best_score_ <= 1


def test_names_of_features_go_in_and_out() -> None:
    frame = pd.DataFrame(blobs()[:, :2], columns=["size", "weight"])
    rescaler = FeatureRescaler().set_output(transform="pandas")
    rescaled = rescaler.fit_transform(frame)
    assert list(rescaled.columns) == list(rescaler.get_feature_names_out()) == ["size", "weight"]
    pd.testing.assert_frame_equal(rescaler.transform(frame), rescaled)
    with pytest.raises(ValueError, match="feature names"):
        rescaler.transform(frame.rename(columns={"size": "length"}))


BAD: list[tuple[Any, str]] = [
    (IMWKMeans(9), "n_samples=4 cannot form n_clusters=9"),
    (IMWKMeans(0), "n_clusters must be a whole number of at least 1, got 0"),
    (IMWKMeans(2, True), "p must be a finite number of at least 1, got True"),
    (IMWKMeans(2, centre="exakt"), "Did you mean 'exact'"),
    (RescaledIMWKMeans(2, 0.5, 2.0), "p1 must be a finite number of at least 1, got 0.5"),
    (RescaledIMWKMeans(2, 2.0, np.inf), "p2 must be a finite number of at least 1, got inf"),
    (FeatureRescaler(5), "n_samples=4 cannot form n_clusters=5"),
]


@pytest.mark.parametrize(("estimator", "words"), BAD, ids=[words for _, words in BAD])
def test_bad_parameters_are_refused_in_words(estimator: Any, words: str) -> None:
    with pytest.raises(InvalidInputError, match=words):
        estimator.fit([[0.0], [0.1], [0.9], [1.0]])


def test_without_scikit_learn_the_message_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(ImportError, match=r"pip install 'imwk-sweep\[sklearn\]'"):
        runpy.run_path(str(estimators.__file__))
