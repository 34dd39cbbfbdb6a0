"""The nearest cluster of new entities, after a run of imwk-means."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import power, weighted_powers, zeros_have_powers
from pipeline.core.nearest import nearest_of
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_exponent, as_matrix


def nearest_clusters(X: ArrayLike, centroids: ArrayLike, weights: ArrayLike, p: float) -> IntArray:
    """Return the nearest cluster of each entity, such as of new ones after a run.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities, normalised in the same way as those of the run.
    centroids, weights : array_like, shape (K, m)
        Centroids and feature weights of the clusters; see `ImwkResult`.
    p : float
        Minkowski exponent of the run.

    Returns
    -------
    ndarray of int, shape (n,)
        0 to K - 1, the lowest on a tie. For the entities of a converged run these are its labels.

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
            f"X, centroids and weights have the shapes {matrix.shape}, {z.shape} and {w.shape}. "
            "Give the same number of columns for all, and one row of weights for each centroid."
        )
    return nearest_of(_distances(matrix, z, w, exponent), len(z))[0].astype(np.int64)


def _distances(
    X: Float64Array, centroids: Float64Array, weights: Float64Array, p: float
) -> Iterator[Float64Array]:
    """Yield the distances, to the power p, of all entities to each cluster in turn."""
    columns, exponent, count = np.ascontiguousarray(X.T), np.array([p]), np.array([len(X)])
    for z, w in zip(centroids[:, :, np.newaxis], weights[:, :, np.newaxis], strict=True):
        with zeros_have_powers(), np.errstate(over="ignore", invalid="ignore"):
            to_p = weighted_powers(columns, slice(None), z, power(w, exponent), exponent, count)
        if not np.isfinite(to_p).all():
            raise InvalidInputError(
                f"X lies so far from the clusters that powers of distances with p = {p:g} do not "
                "fit into float64. Normalise X in the same way as the clustered data."
            )
        yield to_p
