"""What a sweep keeps of its runs beside their scores: labels and weights, in small types."""

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core import ImwkResult, KMeansResult
from pipeline.core.types import FloatArray

#: The type of kept weights, and the number of its last bits that are rounded to zero. These bits
#: cannot be compressed, and no use of weights needs them: the rest is good to 1.6e-5 of a weight.
WEIGHT_TYPE, DROPPED_BITS = np.float32, 8


def label_type(k: int) -> np.dtype[np.unsignedinteger[Any]]:
    """Return the type of the kept labels of `k` clusters. Its largest number stands for no label.

    Examples
    --------
    >>> print(label_type(255), label_type(256), label_type(70_000))
    uint8 uint16 uint32
    """
    return np.min_scalar_type(k)


def kept_runs(
    prefix: str, runs: Sequence[ImwkResult], k: int, keep: Collection[str]
) -> dict[str, NDArray[Any]]:
    """Return what is kept of some runs of imwk-means, one row for each.

    Parameters
    ----------
    prefix : str
        The part of the sweep, with which the names begin.
    runs : sequence of ImwkResult
        Runs on one data set.
    k : int
        The number of clusters asked for.
    keep : collection of str
        Some of `pipeline.spec.KEEP`.

    Returns
    -------
    dict of str to ndarray
        ``labels`` (r, n) and ``converged`` (r,), ``weights`` (r, k, m), each name with the prefix.
        Clusters that a run did not form have weights of NaN.

    Examples
    --------
    >>> from pipeline.core import imwk_many
    >>> runs = imwk_many([[0.0], [0.1], [5.0], [5.1]], k=3, ps=[1.5, 2])
    >>> kept = kept_runs("imwk", runs, 3, ["labels", "weights"])
    >>> {name: values.shape for name, values in kept.items()}
    {'imwk_labels': (2, 4), 'imwk_converged': (2,), 'imwk_weights': (2, 3, 1)}
    """
    kept: dict[str, NDArray[Any]] = {}
    if "labels" in keep:
        kept[f"{prefix}_labels"] = np.stack([run.labels.astype(label_type(k)) for run in runs])
        kept[f"{prefix}_converged"] = np.array([run.converged for run in runs], dtype=np.int8)
    if "weights" in keep:
        kept[f"{prefix}_weights"] = np.stack([_of_all_clusters(run, k) for run in runs])
    return kept


def kept_restart(found: KMeansResult, k: int, keep: Collection[str]) -> dict[str, NDArray[Any]]:
    """Return what is kept of k-means++: the labels of the first restart of least inertia.

    Examples
    --------
    >>> from pipeline.core import kmeans
    >>> kept = kept_restart(kmeans([[0.0], [0.1], [5.0]], 2, 3, seed=1), 2, ["labels"])
    >>> {name: values.shape for name, values in kept.items()}
    {'kmeans_labels': (3,), 'kmeans_restart': (), 'kmeans_inertia': ()}
    """
    if "labels" not in keep:
        return {}
    best = int(found.inertia.argmin())
    return {
        "kmeans_labels": found.labels[best].astype(label_type(k)),
        "kmeans_restart": np.array(best, dtype=np.int32),
        "kmeans_inertia": np.array(found.inertia[best]),
    }


def rounded_weights(weights: FloatArray) -> NDArray[np.float32]:
    """Round weights as they are kept: a float32 without its last bits, to the nearest even one.

    Examples
    --------
    >>> rounded_weights(np.array([1 / 3, 1.0])).tolist()
    [0.33333587646484375, 1.0]
    """
    bits = np.asarray(weights, dtype=WEIGHT_TYPE).view(np.uint32)
    last = np.uint32(1 << DROPPED_BITS)
    # Adding a little less than a half, or a half if the bit before is 1, carries into that bit.
    carried = bits + (last // 2 - 1) + ((bits // last) & 1)
    return (carried // last * last).view(WEIGHT_TYPE)


def _of_all_clusters(run: ImwkResult, k: int) -> NDArray[np.float32]:
    weights = np.full((k, run.weights.shape[1]), np.nan, dtype=WEIGHT_TYPE)
    weights[: len(run.weights)] = rounded_weights(run.weights)
    return weights
