"""The built-in clusterers: scikit-learn's, with its defaults except where a comment says why."""

import warnings

from pipeline.core.types import FloatArray, IntArray
from pipeline.errors import requires_extra
from pipeline.plugins.kinds import Function


def ward(X: FloatArray, k: int, seed: int) -> IntArray:  # noqa: ARG001 - not random
    """Cluster by Ward's method.

    Examples
    --------
    >>> import numpy as np
    >>> ward(np.array([[0.0], [0.1], [5.0]]), 2, seed=0).tolist()
    [0, 0, 1]
    """
    return _agglomerative(X, k, "ward")


def average(X: FloatArray, k: int, seed: int) -> IntArray:  # noqa: ARG001 - not random
    """Cluster by average linkage."""
    return _agglomerative(X, k, "average")


def gmm(X: FloatArray, k: int, seed: int) -> IntArray:
    """Cluster by a mixture of normal distributions with full covariances, once."""
    require_sklearn()
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    with warnings.catch_warnings():
        # The labels of a run that ends after 100 rounds count like those of any other
        warnings.simplefilter("ignore", ConvergenceWarning)
        labels: IntArray = GaussianMixture(k, random_state=seed).fit_predict(X)
    return labels


def spectral(X: FloatArray, k: int, seed: int) -> IntArray:
    """Cluster by the spectrum of a Gaussian kernel."""
    require_sklearn()
    from sklearn.cluster import SpectralClustering

    # With QR, labels do not depend on random starts as with k-means. The seed only starts ARPACK.
    found = SpectralClustering(k, random_state=seed, assign_labels="cluster_qr").fit(X)
    labels: IntArray = found.labels_
    return labels


FUNCTIONS: dict[str, Function] = {
    "ward": ward,
    "average": average,
    "gmm": gmm,
    "spectral": spectral,
}


def require_sklearn() -> None:
    """Raise an error that says what to install if there is no scikit-learn."""
    with requires_extra("sklearn", "Built-in clusterers need scikit-learn"):
        import sklearn.cluster
        import sklearn.mixture  # noqa: F401 - loaded here, before its threads are limited


def _agglomerative(X: FloatArray, k: int, linkage: str) -> IntArray:
    require_sklearn()
    from sklearn.cluster import AgglomerativeClustering

    labels: IntArray = AgglomerativeClustering(k, linkage=linkage).fit_predict(X)
    return labels
