"""Find the damaged tiles of a cube, and mark them as missing."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.spec import Tile
from storage.backends.location import CubeLocation
from storage.errors import DamagedCubeError, storage_errors
from storage.handle import CubeHandle, open_handle
from storage.kept import KeptArray, kept_arrays
from storage.layout.axes import TileIndex
from storage.layout.grids import Grid
from storage.layout.schema import Status, Variable
from storage.layout.skeleton import DOCUMENT, document_copies
from storage.ledger import stored_grid
from storage.tables import refuse_damaged_tables
from storage.tile_arrays import TileArray, read_tile_array
from storage.tiles import mark_missing

#: The errors of a damaged chunk: of its checksum, a codec, its shape or the disk.
UNREADABLE = (ValueError, RuntimeError, TypeError, OSError)

Reasons = Mapping[Tile, tuple[str, ...]]


@dataclass(frozen=True)
class Verification:
    """The result of `verify_cube`.

    Attributes
    ----------
    checked : int
        The number of tiles that are done; all their results were read.
    damaged : mapping of Tile to tuple of str
        The problems of each tile that cannot be used.
    repaired : bool
        Whether the damaged tiles were marked as missing.
    """

    checked: int
    damaged: Reasons
    repaired: bool


def verify_cube(location: CubeLocation, *, repair: bool = False) -> Verification:
    """Read all results of a cube, and check that they are complete and in range.

    Parameters
    ----------
    location : path or URL
        An existing cube.
    repair : bool
        Mark damaged tiles as missing and remove their results, so that the others can be read and
        the next submit computes the damaged ones again.

    Returns
    -------
    Verification
        The damaged tiles, each with its problems.

    Raises
    ------
    DamagedCubeError
        If the metadata, coordinates or tables of the cube are damaged, so that no tile can be
        trusted.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     verify_cube(f"{folder}/cube.zarr")
    Verification(checked=0, damaged={}, repaired=False)
    """
    handle = open_handle(location)
    tiles = handle.spec.tiles
    _refuse_damaged_metadata(handle)
    refuse_damaged_tables(handle)
    with storage_errors(f"read the status of the tiles in {location}"):
        status, grid = read_tile_array(handle, "status"), read_tile_array(handle, "grid")
    grids = {tile: stored_grid(handle, handle.index(tile), status, grid) for tile in tiles}
    done = [tile for tile in grids if status.values[handle.index(tile)] == Status.DONE]
    problems: dict[Tile, list[str]] = defaultdict(list)
    found = (
        *_bad_states(handle, status, grid),
        *_bad_results(handle, grids),
        *_bad_kept(handle, grids),
    )
    for tile, problem in found:
        problems[tile].append(problem)
    damaged = {tile: tuple(problems[tile]) for tile in tiles if tile in problems}
    if repair and damaged:
        mark_missing(handle, damaged)
    return Verification(len(done), damaged, repair and bool(damaged))


def _refuse_damaged_metadata(handle: CubeHandle) -> None:
    """Compare the documents of all arrays with their copies in the root document."""
    with storage_errors(f"read the metadata of {handle.location}"):
        copies = document_copies(handle.document)
        stored = handle.backend.read_many(copies)
        for key, copy in copies.items():
            if key not in stored or json.loads(stored[key]) != copy:
                raise DamagedCubeError(
                    f"{key} in {handle.location} differs from its copy in {DOCUMENT}: one of them "
                    "is damaged. Restore both from a backup, or extend the cube again if an "
                    "extension was stopped."
                )
    if handle.group.attrs.get("fingerprint") != handle.spec.fingerprint:
        raise DamagedCubeError(
            f"The spec in {handle.location} does not match the fingerprint beside it: one of them "
            f"is damaged. Restore {DOCUMENT} from a backup."
        )


def _bad_states(
    handle: CubeHandle, status: TileArray, grid: TileArray
) -> Iterator[tuple[Tile, str]]:
    for tile in handle.spec.tiles:
        index = handle.index(tile)
        is_done = status.values[index] == Status.DONE
        if index in status.damaged:
            yield tile, "its status cannot be read"
        elif status.values[index] not in tuple(Status):
            yield tile, f"its status is {status.values[index]}"
        elif index in grid.damaged:
            yield tile, "its grid cannot be read"
        elif is_done and stored_grid(handle, index, status, grid) is None:
            yield tile, f"it is done for grid {grid.values[index]}, which does not exist"
    for name in ("tile_seconds", "error"):
        try:
            handle.array(name)[...]
        except UNREADABLE:
            yield from _unreadable(handle, name)


def _unreadable(handle: CubeHandle, name: str) -> Iterator[tuple[Tile, str]]:
    for tile in handle.spec.tiles:
        try:
            handle.array(name)[handle.index(tile)]
        except UNREADABLE as error:
            yield tile, f"{name} cannot be read: {error}"


def _bad_results(
    handle: CubeHandle, grids: Mapping[Tile, Grid | None]
) -> Iterator[tuple[Tile, str]]:
    """Read all tiles: damaged results of a tile that is not done would break readers too."""
    for config in handle.axes.config:
        for variable in handle.results(config):
            values = _read(handle, variable.name, config)
            for tile, grid in grids.items():
                if tile.config == config:
                    yield from _bad_tile(handle, variable, tile, grid, values)


def _read(handle: CubeHandle, name: str, config: str) -> NDArray[Any] | None:
    """Read a whole configuration, ten times faster than tile by tile; return None if damaged."""
    try:
        return np.asarray(handle.array(name)[handle.axes.config.index(config)])
    except UNREADABLE:
        return None


def _bad_tile(
    handle: CubeHandle,
    variable: Variable,
    tile: Tile,
    grid: Grid | None,
    values: NDArray[Any] | None,
) -> Iterator[tuple[Tile, str]]:
    index: TileIndex = handle.index(tile)
    try:
        stored = (
            np.asarray(handle.array(variable.name)[index]) if values is None else values[index[1:]]
        )
    except UNREADABLE as error:
        yield tile, f"{variable.name} cannot be read: {error}"
        return
    if grid is None:
        return
    cells = stored[np.ix_(*handle.positions(variable, grid.p1, grid.p2))]
    problem = variable.problem(cells, handle.clusters(tile))
    if problem:
        yield tile, problem


def _bad_kept(handle: CubeHandle, grids: Mapping[Tile, Grid | None]) -> Iterator[tuple[Tile, str]]:
    """Read what is kept of all tiles, a few p1 at a time."""
    for tile, grid in grids.items():
        for array in kept_arrays(handle, tile):
            problem = next(_kept_problems(array, grid), None)
            if problem:
                yield tile, problem


def _kept_problems(array: KeptArray, grid: Grid | None) -> Iterator[str]:
    for span in array.spans():
        try:
            values = array.decode(span)
        except UNREADABLE as error:
            yield f"{array.variable.name} cannot be read: {error}"
            return
        if grid is not None:
            _, cells = array.cells(grid.p1, grid.p2, span)
            problem = array.variable.problem(values[cells], array.sizes)
            if problem:
                yield problem
