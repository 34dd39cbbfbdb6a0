"""From dispersions to feature weights, in log space: 1 / (p - 1) overflows near p = 1 otherwise."""

import numpy as np

from pipeline.core.validation import FloatArray

#: Added to the dispersions of an anomalous pattern, and where all dispersions are zero.
SMALL_DISPERSION = 0.01


def pattern_weights(dispersions: FloatArray, p: float) -> FloatArray:
    """Weights of an anomalous pattern, from its dispersions (m,)."""
    return np.asarray(_weights(dispersions[np.newaxis] + SMALL_DISPERSION, p)[0])


def cluster_weights(dispersions: FloatArray, p: float) -> FloatArray:
    """Weights of all clusters of the main stage, from their dispersions (k, m).

    The mean dispersion is always added. The paper's formula has no such constant, but without it
    every cluster locks on to one feature, and the published results cannot be reached.
    """
    mean = dispersions.mean()
    return _weights(dispersions + (mean if mean > 0 else SMALL_DISPERSION), p)


def _weights(smoothed: FloatArray, p: float) -> FloatArray:
    if p == 1:
        return np.asarray(np.eye(smoothed.shape[1])[smoothed.argmin(axis=1)])
    exponents = -np.log(smoothed) / (p - 1)
    relative = np.exp(exponents - exponents.max(axis=1, keepdims=True))
    return np.asarray(relative / relative.sum(axis=1, keepdims=True))
