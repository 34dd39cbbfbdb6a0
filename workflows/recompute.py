"""Compute tiles of a cube again, to see whether the same comes out."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import sample
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.execution.block import Arrays, run_tile
from pipeline.spec import SweepSpec, Tile
from storage import (
    CubeLocation,
    environment,
    read_ledger,
    read_provenance,
    read_tile,
    stored_table,
)


@dataclass(frozen=True)
class Recomputation:
    """What came of computing some tiles again.

    Attributes
    ----------
    same_machine : bool
        Whether all that computed the cube is known to have had the CPU features and NumPy of this
        process. If not, other last bits are to be expected.
    equal : mapping of Tile to float
        The share of values that are equal bit for bit.
    """

    same_machine: bool
    equal: Mapping[Tile, float]

    @property
    def share(self) -> float:
        """The share of equal values in all tiles."""
        return float(np.mean(list(self.equal.values()))) if self.equal else 1.0

    @property
    def different(self) -> tuple[Tile, ...]:
        """Tiles with other values than stored."""
        return tuple(tile for tile, share in self.equal.items() if share < 1)


def recompute(
    location: CubeLocation, count: int, except_for: Collection[Tile] = ()
) -> Recomputation:
    """Compute some random tiles again, and compare them with what is stored.

    Parameters
    ----------
    location : path
        An existing cube.
    count : int
        How many tiles of those that are done.
    except_for : collection of Tile
        Tiles that cannot be read.

    Returns
    -------
    Recomputation
        How much is equal.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from workflows import submit
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[1.5, 2])
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(spec, f"{folder}/cube.zarr", workers=0)
    ...     recompute(f"{folder}/cube.zarr", 1).share
    1.0
    """
    provenance = read_provenance(location)
    here = _decisive(environment())
    same_machine = {_decisive(run) for run in provenance.runs} == {here}
    if count == 0:
        return Recomputation(same_machine, {})
    tiles = [tile for tile in read_ledger(location).done if tile not in except_for]
    equal = {
        tile: _share_equal(read_tile(location, tile), _computed(location, provenance.spec, tile))
        for tile in sample(tiles, min(count, len(tiles)))
    }
    return Recomputation(same_machine, equal)


def _computed(location: CubeLocation, spec: SweepSpec, tile: Tile) -> Arrays:
    own = tile.config in spec.datasets.matrices
    return run_tile(spec, tile, stored_table(location, tile.config) if own else None).arrays


def _decisive(recorded: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what may change the last bits."""
    features, versions = recorded["cpu_features"], recorded["versions"]
    return recorded["machine"], tuple(sorted(features)), versions["numpy"]


def _share_equal(stored: Arrays, computed: Arrays) -> float:
    equal = [_bits(stored[name]) == _bits(values) for name, values in computed.items()]
    return float(np.mean(np.concatenate([same.ravel() for same in equal])))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers as float64, which holds the counts exactly."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
