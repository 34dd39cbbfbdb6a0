"""Estimators for scikit-learn: two clusterers and a transformer.

Normalise the data first, for example with `sklearn.preprocessing.MinMaxScaler` in a pipeline. The
algorithms are deterministic, so there is no ``random_state``.
"""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core import imwk, nearest_clusters, rescale, silhouette
from pipeline.core.errors import InvalidInputError
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_exponent, as_whole_number

try:
    from sklearn.base import BaseEstimator, ClusterMixin, OneToOneFeatureMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise ImportError(
        "The estimators need scikit-learn 1.6 or newer: pip install 'imwk-sweep[sklearn]'."
    ) from error

__all__ = ["FeatureRescaler", "IMWKMeans", "RescaledIMWKMeans"]


class _SingleRun(BaseEstimator):
    """One run of imwk-means: the common base of the clusterer and the transformer."""

    labels_: IntArray
    cluster_centers_: FloatArray
    feature_weights_: FloatArray

    def __init__(self, n_clusters: int = 3, p: float = 2.0, *, centre: str = "exact") -> None:
        self.n_clusters = n_clusters
        self.p = p
        self.centre = centre

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find the clusters of `X` and their feature weights; `y` is not used."""
        self._fit(_checked(self, X, reset=True))
        return self

    def _fit(self, X: FloatArray) -> None:
        run = imwk(X, _cluster_count(self.n_clusters, len(X)), self.p, self.centre)
        self.labels_ = run.labels
        self.cluster_centers_ = run.centroids
        self.feature_weights_ = run.weights
        self.n_iter_ = run.iterations
        self.converged_ = run.converged

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the nearest cluster of every row."""
        check_is_fitted(self)
        return self._nearest(_checked(self, X, reset=False))

    def _nearest(self, X: FloatArray) -> IntArray:
        return nearest_clusters(X, self.cluster_centers_, self.feature_weights_, self.p)


class _SilhouetteMixin:
    """A score that needs no classes, so that a search can choose exponents by it."""

    predict: Callable[[ArrayLike], IntArray]

    def score(self, X: ArrayLike, y: Any = None) -> float:
        """Return the silhouette of the predicted clusters of `X`; `y` is not used."""
        labels = self.predict(X)
        return float(silhouette(_checked(self, X, reset=False), labels))


class IMWKMeans(ClusterMixin, _SilhouetteMixin, _SingleRun):
    """Intelligent Minkowski weighted k-means. Deterministic.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, at most the number of rows. Fewer clusters are formed if there are fewer
        anomalous patterns.
    p : float
        Minkowski exponent, at least 1.
    centre : {"exact", "fixed-step"}
        How centres are computed, as for `pipeline.core.imwk`.

    Attributes
    ----------
    labels_ : ndarray of int, shape (n,)
        Cluster of every row.
    cluster_centers_, feature_weights_ : ndarray, shape (clusters, features)
        Minkowski centre and feature weights of every cluster; weights sum to 1.
    n_iter_ : int
        Iterations of the main loop.
    converged_ : bool
        Whether the labels are a fixed point. If so, `predict` gives the same labels.

    Examples
    --------
    >>> X = [[0.0, 0.3], [0.1, 0.9], [0.9, 0.1], [1.0, 0.8], [1.1, 0.2], [-0.1, 0.5]]
    >>> clusterer = IMWKMeans(n_clusters=2, p=1.5).fit(X)
    >>> clusterer.labels_.tolist(), clusterer.predict([[1.2, 0.5]]).tolist()
    ([1, 1, 0, 0, 0, 1], [0])
    """


class FeatureRescaler(OneToOneFeatureMixin, TransformerMixin, _SingleRun):
    """Multiply each row by the feature weights of its cluster, as found by imwk-means.

    `fit_transform` uses the cluster that a row was assigned to, as the paper does. `transform` uses
    the nearest cluster. For the data of a converged run both give the same result.

    Parameters
    ----------
    n_clusters, p, centre
        As for `IMWKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, feature_weights_, n_iter_, converged_
        As for `IMWKMeans`.

    Examples
    --------
    >>> X = [[0.0, 0.3], [0.1, 0.9], [0.9, 0.1], [1.0, 0.8], [1.1, 0.2], [-0.1, 0.5]]
    >>> FeatureRescaler(n_clusters=2, p=2.0).fit(X).transform([[1.0, 1.0]]).round(2)
    array([[0.74, 0.26]])
    """

    def fit_transform(self, X: ArrayLike, y: Any = None) -> FloatArray:
        """Find the clusters of `X`, and rescale `X` by their weights; `y` is not used."""
        rows = _checked(self, X, reset=True)
        self._fit(rows)
        return rescale(rows, self.labels_, self.feature_weights_)

    def transform(self, X: ArrayLike) -> FloatArray:
        """Rescale every row by the weights of the nearest cluster."""
        check_is_fitted(self)
        rows = _checked(self, X, reset=False)
        return rescale(rows, self._nearest(rows), self.feature_weights_)


class RescaledIMWKMeans(ClusterMixin, _SilhouetteMixin, BaseEstimator):
    """imwk-means on data that a first run of imwk-means rescaled by its feature weights.

    Parameters
    ----------
    n_clusters : int
        Number of clusters of both runs.
    p1, p2 : float
        Exponents of the first run, which rescales, and of the run on the rescaled data. At least 1.
    centre : {"exact", "fixed-step"}
        As for `IMWKMeans`.

    Attributes
    ----------
    labels_, cluster_centers_, feature_weights_, n_iter_
        As for `IMWKMeans`, of the second run. Centres are in the units of the rescaled data.
    converged_ : bool
        Whether both runs ended in a fixed point. If so, `predict` gives the same labels.
    rescaler_, clusterer_ : FeatureRescaler, IMWKMeans
        The two runs.

    Examples
    --------
    >>> X = [[0.0, 0.3], [0.1, 0.9], [0.9, 0.1], [1.0, 0.8], [1.1, 0.2], [-0.1, 0.5]]
    >>> clusterer = RescaledIMWKMeans(n_clusters=2, p1=1.5, p2=3.0).fit(X)
    >>> clusterer.labels_.tolist(), clusterer.predict([[1.2, 0.5]]).tolist()
    ([1, 1, 0, 0, 0, 1], [0])
    """

    def __init__(
        self, n_clusters: int = 3, p1: float = 2.0, p2: float = 2.0, *, centre: str = "exact"
    ) -> None:
        self.n_clusters = n_clusters
        self.p1 = p1
        self.p2 = p2
        self.centre = centre

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Rescale `X`, and find the clusters of the rescaled data; `y` is not used."""
        rows = _checked(self, X, reset=True)
        p1, p2 = as_exponent(self.p1, "p1"), as_exponent(self.p2, "p2")
        self.rescaler_ = FeatureRescaler(self.n_clusters, p1, centre=self.centre)
        self.rescaler_.set_output(transform="default")  # whatever the global setting is
        self.clusterer_ = IMWKMeans(self.n_clusters, p2, centre=self.centre)
        self.clusterer_.fit(self.rescaler_.fit_transform(rows))
        self.labels_ = self.clusterer_.labels_
        self.cluster_centers_ = self.clusterer_.cluster_centers_
        self.feature_weights_ = self.clusterer_.feature_weights_
        self.n_iter_ = self.clusterer_.n_iter_
        self.converged_ = self.rescaler_.converged_ and self.clusterer_.converged_
        return self

    def predict(self, X: ArrayLike) -> IntArray:
        """Rescale every row by `rescaler_`, and return its nearest cluster."""
        check_is_fitted(self)
        return self.clusterer_.predict(self.rescaler_.transform(_checked(self, X, reset=False)))


def _checked(estimator: Any, X: ArrayLike, *, reset: bool) -> FloatArray:
    return np.asarray(validate_data(estimator, X, dtype=np.float64, reset=reset))


def _cluster_count(n_clusters: Any, rows: int) -> int:
    clusters = as_whole_number(n_clusters, "n_clusters", 1)
    if clusters > rows:  # in scikit-learn's words, because its checks look for them
        raise InvalidInputError(
            f"n_samples={rows} cannot form n_clusters={clusters}. Give more rows, or choose "
            f"n_clusters of at most {rows}."
        )
    return clusters
