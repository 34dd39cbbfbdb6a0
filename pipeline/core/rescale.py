"""The paper's contribution: data rescaled by the feature weights of their clusters."""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import Float64Array
from pipeline.core.validation import as_labels, as_matrix, refuse_non_finite


def rescale(X: ArrayLike, labels: ArrayLike, weights: ArrayLike) -> Float64Array:
    """Multiply every entity by the feature weights of its cluster.

    Parameters
    ----------
    X : array_like, shape (n, m)
        The normalised data that imwk-means clustered.
    labels : array_like of int, shape (n,)
        Cluster of every entity, 0 to K - 1.
    weights : array_like, shape (K, m)
        Feature weights of every cluster.

    Returns
    -------
    ndarray, shape (n, m)
        ``X[i, v] * weights[labels[i], v]``, to be clustered without normalising again.

    Examples
    --------
    >>> rescale([[2.0, 4.0], [2.0, 4.0]], labels=[0, 1], weights=[[0.5, 0.5], [0.25, 0.75]])
    array([[1. , 2. ],
           [0.5, 3. ]])
    """
    matrix, factors = as_matrix(X), as_matrix(weights, "weights")
    clusters = as_labels(labels, "labels")
    if clusters.shape != (len(matrix),) or clusters.dtype.kind not in "iu":
        raise InvalidInputError(
            f"labels must be {len(matrix)} whole numbers, one for each row of X, "
            f"got {clusters.dtype} of shape {clusters.shape}."
        )
    if factors.shape[1] != matrix.shape[1]:
        raise InvalidInputError(
            f"weights has {factors.shape[1]} columns, but X has {matrix.shape[1]} features. "
            "Give one weight for each feature of X."
        )
    if clusters.min() < 0 or clusters.max() >= len(factors):
        raise InvalidInputError(
            f"labels go from {clusters.min()} to {clusters.max()}, but weights has "
            f"{len(factors)} rows. Labels must be 0 to {len(factors) - 1}."
        )
    with np.errstate(over="ignore"):
        rescaled: Float64Array = matrix * factors[clusters]
    refuse_non_finite(rescaled, "X times weights")
    return rescaled
