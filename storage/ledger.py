"""Which tiles are done, failed or missing, and what is left to do."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pipeline.execution.block import Block
from pipeline.spec import Tile
from storage.backends.location import CubeLocation
from storage.errors import DamagedCubeError, storage_errors
from storage.handle import Cube, open_group
from storage.layout.axes import TileIndex
from storage.layout.grids import Grid, needs
from storage.layout.schema import Status
from storage.tile_arrays import Flags, read_flags


@dataclass(frozen=True)
class Work:
    """A tile that is not done, and what of it is to be computed."""

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
        """All tiles."""
        return self.done + self.failed + self.missing


@dataclass(frozen=True)
class Ledger:
    """What became of every tile of a sweep.

    Attributes
    ----------
    states : mapping of Tile to Status
        In the order of the sweep; all that is not done or failed is missing.
    failed : mapping of Tile to str
        Why tiles failed.
    todo : tuple of Work
        The missing tiles. A tile made before an extension lacks only new exponents.
    not_part : int
        Cells of the cube's box that no spec asked for.
    unlabelled : tuple of str
        Configurations without labels, of which there is no ARI.
    """

    states: Mapping[Tile, Status]
    failed: Mapping[Tile, str]
    todo: tuple[Work, ...]
    not_part: int
    unlabelled: tuple[str, ...] = ()

    @property
    def done(self) -> tuple[Tile, ...]:
        """Tiles whose results are all there."""
        return tuple(tile for tile, state in self.states.items() if state == Status.DONE)

    @property
    def missing(self) -> tuple[Tile, ...]:
        """Tiles that are to be computed, wholly or in part."""
        return tuple(work.tile for work in self.todo)

    @property
    def counts(self) -> Counts:
        """Numbers of tiles of the whole sweep."""
        return _counts(Counter(self.states.values()))

    @property
    def by_config(self) -> dict[str, Counts]:
        """Numbers of tiles of every configuration."""
        counters: dict[str, Counter[Status]] = {}
        for tile, state in self.states.items():
            counters.setdefault(tile.config, Counter())[state] += 1
        return {config: _counts(counter) for config, counter in counters.items()}


def read_ledger(location: CubeLocation) -> Ledger:
    """Read what became of every tile; a sweep may be writing at the same time.

    Parameters
    ----------
    location : path
        An existing cube.

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
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     read_ledger(f"{folder}/cube.zarr").by_config
    {'1000x6-3': Counts(done=0, failed=0, missing=8)}
    """
    cube = open_group(location)
    with storage_errors(f"read the ledger of {location}"):
        # Status first: a tile that becomes done in between has its grid already.
        status, grid = read_flags(cube, "status"), read_flags(cube, "grid")
        _refuse_damaged(cube, status, grid)
        lacking = {tile: _needs(cube, tile, status, grid) for tile in cube.spec.tiles}
        errors = _errors(cube, status, [tile for tile, some in lacking.items() if some])
    return Ledger(
        {tile: _state(tile, errors, lacking[tile]) for tile in lacking},
        errors,
        tuple(Work(tile, some) for tile, some in lacking.items() if some and tile not in errors),
        status.values.size - len(lacking),
        cube.spec.unlabelled,
    )


def todo(location: CubeLocation) -> tuple[Work, ...]:
    """Return the tiles still to do, with the cells that each lacks, in the order of the sweep.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}}, p1=[2])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     work = todo(f"{folder}/cube.zarr")
    >>> len(work), str(work[0].tile), work[0].blocks[0].p1
    (8, '1000x6-3, data set 0, z-score', (2.0,))
    """
    return read_ledger(location).todo


def is_done(location: CubeLocation, tile: Tile) -> bool:
    """Say whether nothing is left to compute of one tile, without reading the whole ledger.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     is_done(f"{folder}/cube.zarr", spec.tiles[0])
    False
    """
    cube = open_group(location)
    with storage_errors(f"read the status of {tile} in {location}"):
        status, number = (
            np.asarray(cube.array(name)[cube.index(tile)]).item() for name in ("status", "grid")
        )
    if status != Status.DONE or not 0 <= number < len(cube.grids):
        return False
    return not needs(tile, cube.grids[number], cube.grids[-1], cube.spec.parts)


def stored_grid(cube: Cube, index: TileIndex, status: Flags, grid: Flags) -> Grid | None:
    """Return the grid that a tile is whole for."""
    number = grid.values[index]
    done = status.values[index] == Status.DONE and 0 <= number < len(cube.grids)
    return cube.grids[number] if done else None


def _needs(cube: Cube, tile: Tile, status: Flags, grid: Flags) -> tuple[Block, ...]:
    stored = stored_grid(cube, cube.index(tile), status, grid)
    return needs(tile, stored, cube.grids[-1], cube.spec.parts)


def _state(tile: Tile, errors: Mapping[Tile, str], lacking: tuple[Block, ...]) -> Status:
    if tile in errors:
        return Status.FAILED
    return Status.MISSING if lacking else Status.DONE


def _errors(cube: Cube, status: Flags, lacking: list[Tile]) -> dict[Tile, str]:
    """Return why tiles failed; a tile that failed in an extension is done but for its error."""
    states = {tile: status.values[cube.index(tile)] for tile in lacking}
    tried = [tile for tile, state in states.items() if state in (Status.FAILED, Status.DONE)]
    if not tried:
        return {}
    places = np.array([cube.index(tile) for tile in tried]).T
    texts = np.asarray(cube.array("error").get_coordinate_selection(tuple(places)))
    return {
        tile: error
        for tile, error in zip(tried, texts.tolist(), strict=True)
        if error or states[tile] == Status.FAILED
    }


def _refuse_damaged(cube: Cube, *flags: Flags) -> None:
    for index in (index for flag in flags for index in flag.damaged):
        config, dataset, normalisation = index
        tile = Tile(
            cube.axes.config[config],
            cube.axes.dataset[dataset],
            cube.axes.normalisation[normalisation],
        )
        raise DamagedCubeError(
            f"The status of {tile} in {cube.location} is damaged. "
            "Mark it missing by imwk verify CUBE --repair, then submit again."
        )


def _counts(counter: Counter[Status]) -> Counts:
    return Counts(counter[Status.DONE], counter[Status.FAILED], counter[Status.MISSING])
