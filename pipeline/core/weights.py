"""From dispersions to feature weights.

All is computed in log space: powers with 1 / (p - 1) would overflow near p = 1.
"""

import numpy as np

from pipeline.core.types import Float64Array, FloatArray, IntArray

#: Added to the dispersions of an anomalous pattern, and where all dispersions are zero.
SMALL_DISPERSION = 0.01


def pattern_weights(dispersions: FloatArray, p: Float64Array) -> Float64Array:
    """Return the weights of anomalous patterns, from their dispersions (m, patterns)."""
    return _weights(dispersions + SMALL_DISPERSION, p)


def cluster_weights(dispersions: Float64Array, clusters: IntArray, p: Float64Array) -> Float64Array:
    """Return the weights of all clusters in the main loop, from dispersions (m, lanes, k).

    A lane's mean dispersion, over its own number of `clusters`, is always added. The paper's
    formula has no such constant. Without it every cluster relies on one feature, and the published
    values cannot be reached.
    """
    totals = dispersions.sum(axis=0).sum(axis=1)
    mean = totals / (clusters * len(dispersions))
    smoothing = np.where(mean > 0, mean, SMALL_DISPERSION)
    return _weights(dispersions + smoothing[:, np.newaxis], p[:, np.newaxis])


def _weights(smoothed: FloatArray, p: Float64Array) -> Float64Array:
    """Weigh the features (first axis); `p` has the shape of the other axes, or broadcasts to it."""
    one_feature_takes_all = p == 1
    exponents = -np.log(smoothed) / np.where(one_feature_takes_all, 1.0, p - 1)
    weights: Float64Array = np.exp(exponents - exponents.max(axis=0))
    weights /= weights.sum(axis=0)
    if one_feature_takes_all.any():
        features = np.arange(len(smoothed)).reshape(-1, *[1] * (smoothed.ndim - 1))
        least = features == smoothed.argmin(axis=0)
        weights = np.where(one_feature_takes_all, least, weights)
    return weights
