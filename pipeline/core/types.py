"""Array types of the core: they tell which precision an array has."""

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

#: Always float64: data as given, exponents, weights, results.
Float64Array = NDArray[np.float64]
#: Always float32: estimates. No result depends on one.
Float32Array = NDArray[np.float32]
#: Of the precision of the run, float64 or float32.
FloatArray = NDArray[np.floating[Any]]
#: The number type of a function's result, where it is that of an argument.
AnyFloat = TypeVar("AnyFloat", bound=np.floating[Any])

IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Labels of the smallest type that holds them: they are compared over and over.
SmallLabels = NDArray[np.integer[Any]]
