"""Array types of the core."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: The core computes in float64 or, where a caller chooses so, in float32.
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]
BoolArray = NDArray[np.bool_]
#: Labels of the smallest type that holds them: they are compared over and over.
SmallLabels = NDArray[np.integer[Any]]
