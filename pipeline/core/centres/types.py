"""What a way of finding centres takes and returns."""

from collections.abc import Callable
from typing import NamedTuple

from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array, FloatArray


class Centres(NamedTuple):
    """Centres of groups and the dispersions about them, both of shape (m, groups)."""

    centres: FloatArray
    dispersions: FloatArray


#: Finds the centres of groups, given one exponent for each group.
CentreMethod = Callable[[Groups, Float64Array], Centres]
