"""The coordinates of a cube, in the order in which they are stored."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.spec import SweepSpec, Tile
from storage.errors import CubeError

#: The position of a tile along config, dataset and normalisation.
TileIndex = tuple[int, int, int]

_EXTEND = (
    "Extend the cube first with storage.extend_cube, or on the command line with imwk extend CUBE "
    "SPEC."
)


@dataclass(frozen=True)
class Axes:
    """Coordinates in stored order: an extension appends, so that no stored value moves.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}}, p1=[1.5, 2])
    >>> axes = Axes.of(spec)
    >>> axes.index(Tile("1000x6-3", 1, "range"))
    (0, 1, 1)
    >>> axes.grown(spec.model_copy(update={"p1": (1.1, 1.5, 2.0)})).p1
    (1.5, 2.0, 1.1)
    """

    config: tuple[str, ...]
    dataset: tuple[int, ...]
    normalisation: tuple[str, ...]
    p1: tuple[float, ...]
    p2: tuple[float, ...]
    restart: tuple[int, ...]

    @classmethod
    def of(cls, spec: SweepSpec) -> "Axes":
        """Return the axes of a new cube for `spec`."""
        return cls((), (), (), (), (), ()).grown(spec)

    def grown(self, spec: SweepSpec) -> "Axes":
        """Return these axes with the additional coordinates of `spec` at their ends."""
        most = max(map(spec.dataset_count, spec.configs))
        return Axes(
            _with_new(self.config, spec.configs),
            _with_new(self.dataset, range(most)),
            _with_new(self.normalisation, spec.normalisations),
            _with_new(self.p1, spec.p1),
            _with_new(self.p2, spec.p2),
            _with_new(self.restart, range(spec.restarts)),
        )

    def holds(self, spec: SweepSpec) -> bool:
        """Return whether these are the coordinates of `spec`, in any order."""
        own, wanted = asdict(self), asdict(Axes.of(spec))
        return all(Counter(own[dim]) == Counter(wanted[dim]) for dim in wanted)

    def index(self, tile: Tile) -> TileIndex:
        """Return the position of a tile in the dimensions that name it."""
        try:
            return (
                self.config.index(tile.config),
                self.dataset.index(tile.dataset),
                self.normalisation.index(tile.normalisation),
            )
        except ValueError as error:
            raise CubeError(f"The cube has no tile {tile}. {_EXTEND}") from error

    def length(self, dim: str) -> int:
        """Return the number of coordinates in a dimension."""
        return len(getattr(self, dim))

    def positions(self, dim: str, values: Iterable[float]) -> NDArray[np.intp]:
        """Return the positions of `values` in a dimension."""
        known = {value: position for position, value in enumerate(getattr(self, dim))}
        try:
            return np.array([known[value] for value in values], dtype=np.intp)
        except KeyError as error:
            raise CubeError(f"The cube has no {dim} = {error}. {_EXTEND}") from error


def _with_new(stored: tuple[Any, ...], wanted: Iterable[Any]) -> tuple[Any, ...]:
    known = set(stored)
    return stored + tuple(value for value in wanted if value not in known)
