"""Compute tiles of a cube again, and compare them with the stored results."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import sample
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.execution.block import Arrays, run_tile
from pipeline.spec import Tile
from storage import CubeLocation, read_ledger, read_provenance, stored_table
from storage.compatibility import refuse_other_rules
from storage.handle import CubeHandle, open_handle
from storage.layout.kept import KEPT_RESULTS
from storage.provenance import PACKAGES, environment
from storage.tiles import read_tile


@dataclass(frozen=True)
class Recomputation:
    """The result of computing some tiles again.

    Attributes
    ----------
    same_machine : bool
        Whether all processes that computed the cube had the CPU features and the NumPy version of
        this one. If not, the last bits may differ.
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
        """The tiles whose values differ from the stored ones."""
        return tuple(tile for tile, share in self.equal.items() if share < 1)


def recompute(
    location: CubeLocation, count: int, except_for: Collection[Tile] = ()
) -> Recomputation:
    """Compute some random tiles again, and compare them with the stored results.

    Parameters
    ----------
    location : path or URL
        An existing cube.
    count : int
        The number of tiles, chosen from those that are done.
    except_for : collection of Tile
        Tiles that cannot be read.

    Returns
    -------
    Recomputation
        The share of equal values.

    Raises
    ------
    CubeMismatchError
        If the cube was computed by other rules, which this version does not know any more.

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
    handle = open_handle(location)
    here = _decisive(environment(handle.spec))
    same_machine = {_decisive(record) for record in read_provenance(handle).sessions} == {here}
    if count == 0:
        return Recomputation(same_machine, {})
    refuse_other_rules(location, handle.spec)
    tiles = [tile for tile in read_ledger(handle).done if tile not in except_for]
    equal = {
        tile: _share_equal(read_tile(handle, tile), _computed(handle, tile))
        for tile in sample(tiles, min(count, len(tiles)))
    }
    return Recomputation(same_machine, equal)


def _computed(handle: CubeHandle, tile: Tile) -> Arrays:
    own = tile.config in handle.spec.datasets.matrices
    table = stored_table(handle, tile.config, tile.dataset) if own else None
    return run_tile(handle.spec, tile, table).arrays


def _decisive(recorded: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the properties that may change the last bits."""
    features, versions = recorded["cpu_features"], recorded["versions"]
    # What is not in `PACKAGES` are packages that compute clusterers and plug-ins.
    others = {name: versions[name] for name in versions if name not in PACKAGES}
    return recorded["machine"], tuple(sorted(features)), versions["numpy"], *sorted(others.items())


def _share_equal(stored: Arrays, computed: Arrays) -> float:
    equal = [_equal(name, stored[name], values) for name, values in computed.items()]
    return float(np.mean(np.concatenate([same.ravel() for same in equal])))


def _equal(name: str, stored: NDArray[Any], computed: NDArray[Any]) -> NDArray[np.bool_]:
    """Return which values are equal; all labels or all weights of a run count as one value."""
    if name not in KEPT_RESULTS:
        return np.asarray(_bits(stored) == _bits(computed))
    same = stored == computed
    if stored.dtype.kind == "f":
        same |= np.isnan(stored) & np.isnan(computed)
    inner = range(-len(KEPT_RESULTS[name].inner), 0)
    return np.asarray(same.all(axis=tuple(inner)))


def _bits(values: NDArray[Any]) -> NDArray[np.uint64]:
    """Return the bits of numbers as float64, which represents counts exactly."""
    return np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
