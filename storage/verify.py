"""Find what is damaged in a cube, and mark it missing."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.spec import Tile
from storage.backends.location import CubeLocation, place_at
from storage.errors import DamagedCubeError, storage_errors
from storage.handle import Cube, open_group
from storage.layout.axes import TileIndex
from storage.layout.grids import Grid
from storage.layout.schema import Status, Variable
from storage.layout.skeleton import DOCUMENT, document_copies
from storage.ledger import stored_grid
from storage.tables import refuse_damaged_data
from storage.tile_arrays import Flags, read_flags
from storage.tiles import mark_missing

#: What reading a damaged chunk may raise: a checksum, a codec, a shape or the disk.
UNREADABLE = (ValueError, RuntimeError, TypeError, OSError)

Reasons = Mapping[Tile, tuple[str, ...]]


@dataclass(frozen=True)
class Verification:
    """What `verify_cube` found.

    Attributes
    ----------
    checked : int
        Tiles that are done, all of whose results were read.
    damaged : mapping of Tile to tuple of str
        What is wrong, for each tile that cannot be used.
    repaired : bool
        Whether the damaged tiles were marked missing.
    """

    checked: int
    damaged: Reasons
    repaired: bool


def verify_cube(location: CubeLocation, *, repair: bool = False) -> Verification:
    """Read all results of a cube, and check that they are whole and in range.

    Parameters
    ----------
    location : path
        An existing cube.
    repair : bool
        Mark damaged tiles missing and remove their results, so that the rest can be read and a
        submit computes them again.

    Returns
    -------
    Verification
        The damaged tiles, each with the reasons.

    Raises
    ------
    DamagedCubeError
        If the cube's metadata, coordinates or data are damaged: no tile can be trusted then.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     verify_cube(f"{folder}/cube.zarr")
    Verification(checked=0, damaged={}, repaired=False)
    """
    cube = open_group(location)
    _refuse_damaged_metadata(cube)
    refuse_damaged_data(cube)
    with storage_errors(f"read the status of tiles in {location}"):
        status, grid = read_flags(cube, "status"), read_flags(cube, "grid")
    grids = {tile: stored_grid(cube, cube.index(tile), status, grid) for tile in cube.spec.tiles}
    done = [tile for tile in grids if status.values[cube.index(tile)] == Status.DONE]
    reasons: dict[Tile, list[str]] = defaultdict(list)
    for tile, reason in (*_bad_flags(cube, status, grid), *_bad_results(cube, grids)):
        reasons[tile].append(reason)
    damaged = {tile: tuple(reasons[tile]) for tile in cube.spec.tiles if tile in reasons}
    if repair and damaged:
        mark_missing(location, damaged)
    return Verification(len(done), damaged, repair and bool(damaged))


def _refuse_damaged_metadata(cube: Cube) -> None:
    """Compare the documents of all arrays with their copies in the root's document."""
    place = place_at(cube.location)
    with storage_errors(f"read the metadata of {cube.location}"):
        root = place.read(DOCUMENT)
        copies = document_copies(root)
        stored = place.read_many(copies)
        for key, copy in copies.items():
            if key not in stored or json.loads(stored[key]) != copy:
                raise DamagedCubeError(
                    f"{key} in {cube.location} differs from its copy in {DOCUMENT}: one of them "
                    "is damaged. Restore both from a backup; or, if an extension was stopped, "
                    "extend the cube again."
                )
    if json.loads(root)["attributes"].get("fingerprint") != cube.spec.fingerprint:
        raise DamagedCubeError(
            f"The spec in {cube.location} does not have the fingerprint beside it: one of them is "
            f"damaged. Restore {DOCUMENT} from a backup."
        )


def _bad_flags(cube: Cube, status: Flags, grid: Flags) -> Iterator[tuple[Tile, str]]:
    for tile in cube.spec.tiles:
        index = cube.index(tile)
        is_done = status.values[index] == Status.DONE
        if index in status.damaged:
            yield tile, "its status cannot be read"
        elif status.values[index] not in tuple(Status):
            yield tile, f"its status is {status.values[index]}"
        elif index in grid.damaged:
            yield tile, "its grid cannot be read"
        elif is_done and stored_grid(cube, index, status, grid) is None:
            yield tile, f"it is done for grid {grid.values[index]}, which the cube does not have"
    for name in ("tile_seconds", "error"):
        try:
            cube.array(name)[...]
        except UNREADABLE:
            yield from _unreadable(cube, name)


def _unreadable(cube: Cube, name: str) -> Iterator[tuple[Tile, str]]:
    for tile in cube.spec.tiles:
        try:
            cube.array(name)[cube.index(tile)]
        except UNREADABLE as error:
            yield tile, f"{name} cannot be read: {error}"


def _bad_results(cube: Cube, grids: Mapping[Tile, Grid | None]) -> Iterator[tuple[Tile, str]]:
    """Read all tiles: what a tile that is not done left behind must not break readers either."""
    for config in cube.axes.config:
        for variable in cube.results(config):
            values = _read(cube, variable.name, config)
            for tile, grid in grids.items():
                if tile.config == config:
                    yield from _bad_tile(cube, variable, tile, grid, values)


def _read(cube: Cube, name: str, config: str) -> NDArray[Any] | None:
    """Read a whole configuration, which is ten times faster than tile by tile; None if damaged."""
    try:
        return np.asarray(cube.array(name)[cube.axes.config.index(config)])
    except UNREADABLE:
        return None


def _bad_tile(
    cube: Cube, variable: Variable, tile: Tile, grid: Grid | None, values: NDArray[Any] | None
) -> Iterator[tuple[Tile, str]]:
    index: TileIndex = cube.index(tile)
    try:
        stored = (
            np.asarray(cube.array(variable.name)[index]) if values is None else values[index[1:]]
        )
    except UNREADABLE as error:
        yield tile, f"{variable.name} cannot be read: {error}"
        return
    if grid is None:
        return
    cells = stored[np.ix_(*cube.places(variable, grid.p1, grid.p2))]
    problem = variable.problem(cells, cube.clusters(tile))
    if problem:
        yield tile, problem
