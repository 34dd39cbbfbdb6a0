"""The state of every tile, and what is left to compute."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.spec import Tile
from pipeline.spec.blocks import Block
from storage.errors import REPAIR, DamagedCubeError, storage_errors
from storage.handle import AnyCube, CubeHandle, as_handle
from storage.layout.axes import TileIndex
from storage.layout.grids import Grid, needs
from storage.layout.schema import Status
from storage.tile_arrays import TileArray, read_tile_array


@dataclass(frozen=True)
class Work:
    """A tile that is not done, and the blocks that it lacks."""

    tile: Tile
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Counts:
    """How many tiles are done, failed and missing."""

    done: int
    failed: int
    missing: int

    @property
    def total(self) -> int:
        """The number of all tiles."""
        return self.done + self.failed + self.missing


@dataclass(frozen=True)
class Ledger:
    """The state of every tile of a sweep.

    Attributes
    ----------
    states : mapping of Tile to Status
        Done, failed or missing, in the order of the sweep.
    failed : mapping of Tile to str
        The errors of failed tiles.
    todo : tuple of Work
        The missing tiles. A tile that was done before an extension lacks only the new exponents.
    not_part : int
        Number of tiles in the box of the cube's coordinates that do not belong to the sweep.
    unlabelled : tuple of str
        Configurations without labels, which have no ARI.
    """

    states: Mapping[Tile, Status]
    failed: Mapping[Tile, str]
    todo: tuple[Work, ...]
    not_part: int
    unlabelled: tuple[str, ...] = ()

    @property
    def done(self) -> tuple[Tile, ...]:
        """The tiles that have all their results."""
        return tuple(tile for tile, state in self.states.items() if state == Status.DONE)

    @property
    def missing(self) -> tuple[Tile, ...]:
        """The tiles that have to be computed, completely or in part."""
        return tuple(work.tile for work in self.todo)

    @property
    def counts(self) -> Counts:
        """The numbers of tiles of the whole sweep."""
        return _counts(Counter(self.states.values()))

    def counts_of(self, config: str | None, dataset: int | None) -> Counts:
        """Return the numbers of tiles of a configuration, a data set, or both; None is all."""
        states = (
            state
            for tile, state in self.states.items()
            if config in (None, tile.config) and dataset in (None, tile.dataset)
        )
        return _counts(Counter(states))

    @property
    def by_config(self) -> dict[str, Counts]:
        """The numbers of tiles of every configuration."""
        counters: dict[str, Counter[Status]] = {}
        for tile, state in self.states.items():
            counters.setdefault(tile.config, Counter())[state] += 1
        return {config: _counts(counter) for config, counter in counters.items()}


def read_ledger(cube: AnyCube) -> Ledger:
    """Read the state of every tile; a sweep may be writing at the same time.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        An existing cube. The ledger has the tiles of the sweep that a handle was opened with.

    Returns
    -------
    Ledger
        Done, failed and missing tiles, by tile and by configuration.

    Raises
    ------
    DamagedCubeError
        If the status of a tile cannot be read.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     read_ledger(f"{folder}/cube.zarr").by_config
    {'1000x6-3': Counts(done=0, failed=0, missing=8)}
    """
    handle = as_handle(cube)
    with storage_errors(f"read the ledger of {handle.location}"):
        # The status is read first: a tile that becomes done in between has its grid already.
        status, grid = read_tile_array(handle, "status"), read_tile_array(handle, "grid")
    _refuse_damaged(handle, status, grid)
    lacking = {tile: _needs(handle, tile, status, grid) for tile in handle.spec.tiles}
    errors = _errors(handle, status, [tile for tile, some in lacking.items() if some])
    return Ledger(
        {tile: _state(tile, errors, lacking[tile]) for tile in lacking},
        errors,
        tuple(Work(tile, some) for tile, some in lacking.items() if some and tile not in errors),
        status.values.size - len(lacking),
        handle.spec.unlabelled,
    )


def is_done(cube: AnyCube, tile: Tile) -> bool:
    """Return whether nothing of a tile is left to compute, without reading the whole ledger.

    A handle that was opened before an extension answers for the sweep that it was opened with.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     is_done(f"{folder}/cube.zarr", spec.tiles[0])
    False
    """
    handle = as_handle(cube)
    with storage_errors(f"read the status of {tile} in {handle.location}"):
        # The status is read first, as in `read_ledger`, and the grid of done tiles only.
        if np.asarray(handle.array("status")[handle.index(tile)]).item() != Status.DONE:
            return False
        number = np.asarray(handle.array("grid")[handle.index(tile)]).item()
    if number >= len(handle.grids):  # complete for a later extension
        handle = handle.current()
    if not 0 <= number < len(handle.grids):
        return False
    return not needs(tile, handle.grids[number], handle.grids[-1], handle.spec.all_parts)


def stored_grid(
    handle: CubeHandle, index: TileIndex, status: TileArray, grid: TileArray
) -> Grid | None:
    """Return the grid that a tile is complete for; None if it is not done."""
    number = grid.values[index]
    done = status.values[index] == Status.DONE and 0 <= number < len(handle.grids)
    return handle.grids[number] if done else None


def _needs(handle: CubeHandle, tile: Tile, status: TileArray, grid: TileArray) -> tuple[Block, ...]:
    stored = stored_grid(handle, handle.index(tile), status, grid)
    return needs(tile, stored, handle.grids[-1], handle.spec.all_parts)


def _state(tile: Tile, errors: Mapping[Tile, str], lacking: tuple[Block, ...]) -> Status:
    if tile in errors:
        return Status.FAILED
    return Status.MISSING if lacking else Status.DONE


def _errors(handle: CubeHandle, status: TileArray, lacking: list[Tile]) -> dict[Tile, str]:
    """Return the errors of failed tiles; one that failed in an extension has the status done."""
    states = {tile: status.values[handle.index(tile)] for tile in lacking}
    tried = [tile for tile, state in states.items() if state in (Status.FAILED, Status.DONE)]
    if not tried:
        return {}
    indices = np.array([handle.index(tile) for tile in tried]).T
    with storage_errors(f"read the errors of failed tiles of {handle.location}"):
        texts = np.asarray(handle.array("error").get_coordinate_selection(tuple(indices)))
    return {
        tile: error
        for tile, error in zip(tried, texts.tolist(), strict=True)
        if error or states[tile] == Status.FAILED
    }


def _refuse_damaged(handle: CubeHandle, *arrays: TileArray) -> None:
    for index in (index for array in arrays for index in array.damaged):
        config, dataset, normalisation = index
        tile = Tile(
            handle.axes.config[config],
            handle.axes.dataset[dataset],
            handle.axes.normalisation[normalisation],
        )
        raise DamagedCubeError(f"The status of {tile} in {handle.location} is damaged. {REPAIR}")


def _counts(counter: Counter[Status]) -> Counts:
    return Counts(counter[Status.DONE], counter[Status.FAILED], counter[Status.MISSING])
