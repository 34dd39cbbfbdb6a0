"""Noise points: entities without a class, which are left out where labels meet classes."""

from collections.abc import Callable
from functools import partial

from numpy.typing import ArrayLike

from pipeline.core.types import Float64Array, IntArray

#: The class of noise points. They are clustered, but not compared with classes.
NO_CLASS = -1

#: Compares labellings (r, n) with classes (n,), which come first.
Agreement = Callable[[ArrayLike, ArrayLike], float | Float64Array]


def agreement_with(
    classes: IntArray, agreement: Agreement
) -> Callable[[IntArray], float | Float64Array]:
    """Return what compares labellings with classes on the entities that have a class.

    Examples
    --------
    >>> import numpy as np
    >>> from pipeline.core.agreement import adjusted_rand_index
    >>> ari = agreement_with(np.array([0, 0, 1, 1, NO_CLASS]), adjusted_rand_index)
    >>> ari(np.array([0, 0, 1, 1, 0])), ari(np.array([[0, 0, 1, 1, 1]])).tolist()
    (1.0, [1.0])
    """
    counts = classes != NO_CLASS
    if counts.all():
        return partial(agreement, classes)
    known = classes[counts]
    return lambda labels: agreement(known, labels[..., counts])
