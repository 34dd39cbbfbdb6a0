"""Small sweeps, and made-up results that depend on the coordinates of each cell."""

from collections.abc import Sequence
from typing import Any
from zlib import crc32

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.execution.block import BlockResult
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block
from storage import CubeLocation, labels, read_ledger, read_spec, weights
from storage.layout.kept import KeptVariable, Sizes, kept_variables
from storage.layout.schema import variables
from storage.tiles import write_tile

CONFIGS = ("1000x6-3", "1000x12-6", "1000x6-3 +3NF")


def small_spec(**changes: Any) -> SweepSpec:
    """Return a sweep of 8 tiles, 3 x 2 exponents and 3 restarts, with some changes."""
    count = changes.pop("count", 2)
    configs = changes.pop("configs", CONFIGS[:2])
    values = {
        "normalisations": ["range", "z-score"],
        "p1": [1.1, 1.4, 2.0],
        "p2": [1.5, 3.0],
        "restarts": 3,
    }
    datasets = {"synthetic": {"configs": list(configs), "count": count}}
    return SweepSpec.model_validate({**values, **changes, "datasets": datasets})


def made_up(spec: SweepSpec, block: Block, seconds: float = 0.5) -> BlockResult:
    """Return results of a block that depend only on the coordinates of each cell."""
    exponents = {"p1": block.p1, "p2": block.p2, "restart": range(spec.restarts)}
    labelled = block.tile.config not in spec.unlabelled
    arrays = {
        name: _values(name, block.tile, [exponents[dim] for dim in variable.dims])
        for name, variable in variables(spec.scores).items()
        if variable.part in block.parts and (labelled or not variable.needs_labels)
    }
    sizes = Sizes.of(spec, block.tile.config)
    for each in kept_variables(spec):
        if each.part in block.parts:
            runs = [exponents[dim] for dim in each.dims]
            arrays[each.name] = _kept(each, block.tile, runs, sizes)
    return BlockResult(block, arrays, seconds)


def _kept(
    each: KeptVariable, tile: Tile, runs: Sequence[Sequence[float]], sizes: Sizes
) -> NDArray[Any]:
    inner = [range(sizes.length(dim)) for dim in each.inner]
    mixed = _mixed(each.name, tile, [*runs, *inner])
    if each.what == "weights":
        mixed = np.asarray(np.sin(mixed) ** 2)
        mixed[..., -1, :] = np.nan  # the last cluster is never formed
    elif each.what != "inertia":
        highest = {"labels": sizes.clusters, "restart": sizes.restarts, "converged": 2}[each.what]
        mixed = np.floor(mixed) % highest
    return mixed.astype(each.dtype(sizes))


def _values(name: str, tile: Tile, cells: Sequence[Sequence[float]]) -> NDArray[Any]:
    mixed = _mixed(name, tile, cells)
    if name.endswith("_nmi"):
        return np.asarray(np.abs(np.sin(mixed)))
    if name.endswith(("_ari", "_ami", "_silhouette")):
        return np.asarray(np.sin(mixed))
    if not name.endswith(("_clusters", "_iterations")):
        return np.asarray(mixed)
    most = 3 if name.endswith("_clusters") else 500
    return np.asarray(1 + mixed.astype(np.int64) % most, dtype=np.uint16)


def _mixed(name: str, tile: Tile, cells: Sequence[Sequence[float]]) -> NDArray[Any]:
    mixed = np.full([len(some) for some in cells], crc32(f"{name} {tile}".encode()) % 1000.0)
    for place, cell in enumerate(np.meshgrid(*cells, indexing="ij")):
        mixed += cell * 37.7**place
    return mixed


def fill(location: CubeLocation, tiles: Sequence[Tile] | None = None) -> None:
    """Write all missing results of a cube, or those of some tiles."""
    spec = read_spec(location)
    for work in read_ledger(location).todo:
        if tiles is None or work.tile in tiles:
            write_tile(location, work.tile, [made_up(spec, block) for block in work.blocks])


def spec_of(location: CubeLocation) -> SweepSpec:
    """Return the spec in a cube's attributes, read by plain xarray."""
    return SweepSpec.model_validate(xr.open_zarr(location).attrs["spec"])


def plain(location: CubeLocation) -> xr.Dataset:
    """Open a cube with plain xarray, with and without consolidated metadata."""
    opened: xr.Dataset = xr.open_zarr(location, chunks=None).load()
    other = xr.open_zarr(location, chunks=None, consolidated=False)
    xr.testing.assert_identical(opened, other.load())
    return opened


def kept(location: CubeLocation) -> dict[tuple[str, str], xr.DataArray]:
    """Return all labels and weights in a cube, by configuration and name."""
    spec = read_spec(location)
    reading = {"labels": labels, "weights": weights}
    wanted = [each for each in kept_variables(spec) if each.what in reading]
    return {
        (config, each.name): reading[each.what](location, config=config, part=each.part).load()
        for config in spec.configs
        for each in wanted
    }


def assert_same_kept(one: CubeLocation, other: CubeLocation) -> None:
    """Check that two cubes keep the same labels and weights of their runs."""
    first, second = kept(one), kept(other)
    assert first.keys() == second.keys()
    for name, values in first.items():
        xr.testing.assert_identical(values, second[name])


def comparable(cube: xr.Dataset) -> xr.Dataset:
    """Return the part of a cube that must be equal in two cubes of one sweep."""
    same: xr.Dataset = cube.drop_vars(["tile_seconds", "grid"]).drop_attrs().load()
    return same
