"""The nearest cluster of new entities, after a run of imwk-means."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import power, weighted_powers, zeros_have_powers
from pipeline.core.nearest import nearest_of
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_exponent, as_matrix


def nearest_clusters(X: ArrayLike, centroids: ArrayLike, weights: ArrayLike, p: float) -> IntArray:
    """Return the cluster that each entity is nearest to, such as new ones after a run.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities, normalised as those of the run.
    centroids, weights : array_like, shape (K, m)
        Of the clusters; see `ImwkResult`.
    p : float
        Minkowski exponent of the run.

    Returns
    -------
    ndarray of int, shape (n,)
        0 to K - 1, the lowest on a tie: the labels of a converged run, for its own entities.

    Examples
    --------
    >>> from pipeline.core.imwk import imwk
    >>> run = imwk([[0.0], [0.1], [5.0], [5.3]], k=2, p=1.5)
    >>> nearest_clusters([[4.0], [0.2]], run.centroids, run.weights, p=1.5).tolist()
    [0, 1]
    """
    matrix, exponent = as_matrix(X), as_exponent(p)
    z, w = as_matrix(centroids, "centroids"), as_matrix(weights, "weights")
    if z.shape != w.shape or z.shape[1] != matrix.shape[1]:
        raise InvalidInputError(
            f"X, centroids and weights have shapes {matrix.shape}, {z.shape} and {w.shape}. Give "
            "as many columns in all, and as many weights as centroids."
        )
    return nearest_of(_distances(matrix, z, w, exponent), len(z))[0].astype(np.int64)


def _distances(
    X: FloatArray, centroids: FloatArray, weights: FloatArray, p: float
) -> Iterator[FloatArray]:
    """Yield the distances, to the power p, of all entities to each cluster in turn."""
    columns, exponent, count = np.ascontiguousarray(X.T), np.array([p]), np.array([len(X)])
    for z, w in zip(centroids[:, :, np.newaxis], weights[:, :, np.newaxis], strict=True):
        with zeros_have_powers(), np.errstate(over="ignore", invalid="ignore"):
            to_p = weighted_powers(columns, slice(None), z, power(w, exponent), exponent, count)
        if not np.isfinite(to_p).all():
            raise InvalidInputError(
                f"X lies so far from the clusters that powers p = {p:g} of distances do not fit a "
                "float64. Normalise it as the data that were clustered."
            )
        yield to_p
