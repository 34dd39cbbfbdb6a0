"""What a way of finding centres takes and returns."""

from typing import NamedTuple, Protocol, Self

import numpy as np

from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array, FloatArray


class Minima(NamedTuple):
    """Where dispersions are least, as far as a search has found out; arrays of equal shape.

    Attributes
    ----------
    at
        The minimum. NaN where no search was made, or where none could start from it.
    curvature
        Second derivative of the dispersion there, over p.
    """

    at: FloatArray
    curvature: FloatArray

    @classmethod
    def unknown(cls, like: FloatArray) -> Self:
        """Return minima of which nothing is known, in the shape and precision of `like`."""
        return cls(np.full_like(like, np.nan), np.full_like(like, np.nan))

    @property
    def known(self) -> BoolArray:
        """Which minima are known: those of all features of a group, or of none."""
        return np.asarray(np.isfinite(self.at[0]))

    def keep(self, chosen: BoolArray) -> "Minima":
        """Return the chosen minima, by the second axis."""
        return Minima(*(np.compress(chosen, part, axis=1) for part in self))

    def put(self, chosen: BoolArray, found: "Minima") -> None:
        """Set the chosen minima."""
        for part, found_part in zip(self, found, strict=True):
            part[:, chosen] = found_part

    def forget(self, chosen: BoolArray) -> None:
        """Forget the chosen minima."""
        self.at[:, chosen] = np.nan


class Starts(NamedTuple):
    """Where searches start, of shape (m, groups) each; NaN where a search shall find its own start.

    Attributes
    ----------
    near
        Where the minimum probably is.
    known
        Another place, and the curvature there.
    """

    near: FloatArray
    known: Minima

    def keep(self, chosen: BoolArray) -> "Starts":
        """Return the starts of chosen groups."""
        return Starts(np.compress(chosen, self.near, axis=1), self.known.keep(chosen))

    def spread(self, groups: BoolArray) -> "Starts":
        """Return starts for more groups: these are those of `groups`, the others are NaN."""
        shape = (len(self.near), len(groups))
        near, *known = np.full((3, *shape), np.nan, dtype=self.near.dtype)
        near[:, groups] = self.near
        spread = Minima(*known)
        spread.put(groups, self.known)
        return Starts(near, spread)


class Centres(NamedTuple):
    """Centres of groups, the dispersions about them, and the minima; all of shape (m, groups)."""

    centres: FloatArray
    dispersions: FloatArray
    minima: Minima

    def put(self, chosen: BoolArray, part: "Centres") -> None:
        """Set what was found of the chosen groups."""
        self.centres[:, chosen], self.dispersions[:, chosen] = part.centres, part.dispersions
        self.minima.put(chosen, part.minima)


class CentreMethod(Protocol):
    """Finds the centres of groups, given one exponent for each group.

    `starts` change a centre by no more than its tolerance.
    """

    def __call__(self, groups: Groups, p: Float64Array, starts: Starts | None = None) -> Centres:
        """Return the centres of all groups."""
        ...
