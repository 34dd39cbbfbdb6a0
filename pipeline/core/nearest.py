"""The nearest of several clusters, found one cluster after the other for many entities at once."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.core.validation import FloatArray

#: Labels of the smallest type that holds them: they are compared over and over.
SmallLabels = NDArray[np.integer[Any]]


def nearest_of(distances: Iterable[FloatArray], k: int) -> SmallLabels:
    """Return the number of the array with the least value in each place, the first on a tie.

    A later array that is closer has the greater number, so the number of the last one that was
    closer than all before it is a maximum: no place needs a branch, which a CPU would mispredict.
    """
    each = iter(distances)
    nearest = next(each)
    labels = np.zeros(nearest.shape, dtype=np.uint8 if k <= np.iinfo(np.uint8).max else np.int64)
    for number, found in enumerate(each, start=1):
        closer = found < nearest
        np.maximum(labels, closer.astype(labels.dtype) * labels.dtype.type(number), out=labels)
        np.minimum(nearest, found, out=nearest)
    return labels
