"""Write what became of a tile: its results, or why there are none."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.execution.block import BlockResult
from pipeline.spec import Tile
from storage.backends.location import CubeLocation, place_at
from storage.errors import CubeError, storage_errors
from storage.handle import Cube, open_group
from storage.layout.grids import Grid
from storage.layout.schema import ALL_RESULTS, Status, Variable, variables

#: Longer errors of failed tiles are cut.
LONGEST_ERROR = 10_000

Values = dict[str, NDArray[Any]]


def write_tile(location: CubeLocation, tile: Tile, results: Iterable[BlockResult]) -> None:
    """Write a tile's results, and only then say that it is done.

    Parameters
    ----------
    location : path
        An existing cube.
    tile : Tile
        Of the cube's sweep.
    results : iterable of BlockResult
        Of all blocks that `todo` lists for the tile, split or not, in any order. What an extended
        cube has of the tile already is kept.

    Raises
    ------
    CubeError
        If cells are missing, out of range or not of this cube; the cube is then as before. If the
        disk is full, the tile is not done, and may be written again.

    Notes
    -----
    All results are written as whole chunks, then the grid they are whole for, then the status: a
    kill leaves the tile as it was before, or done. Writing a tile twice gives the same cube.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube, open_cube
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[1.5, 2])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     write_tile(f"{folder}/cube.zarr", spec.tiles[0], [run_tile(spec, spec.tiles[0])])
    ...     open_cube(f"{folder}/cube.zarr").imwk_clusters.values.ravel().tolist()
    [3.0, 3.0]
    """
    pieces = list(results)
    seconds = sum(piece.seconds for piece in pieces)
    with storage_errors(f"write the tile {tile} of {location}"), _alone(location, tile) as cube:
        values = _placed(cube, tile, pieces)
        if _newest_whole(cube, values) != len(cube.grids) - 1:
            seconds += _merge_stored(cube, tile, values)
        grid = _newest_whole(cube, values)
        _refuse_partial(cube, tile, values, grid)
        about: dict[str, Any] = {
            "tile_seconds": seconds,
            "error": "",
            "grid": grid,
            "status": Status.DONE,
        }
        for name, value in {**values, **about}.items():
            cube.array(name)[cube.index(tile)] = value


def read_tile(location: CubeLocation, tile: Tile) -> Values:
    """Return the results of a tile that is done, in the order of its spec; no other is read."""
    cube = open_group(location)
    with storage_errors(f"read the tile {tile} of {location}"):
        return {
            variable.name: np.asarray(cube.array(variable.name)[cube.index(tile)])[
                np.ix_(*cube.places(variable, cube.spec.p1, cube.spec.p2))
            ]
            for variable in cube.results(tile.config)
        }


@contextmanager
def _alone(location: CubeLocation, tile: Tile) -> Iterator[Cube]:
    """Open a cube while nobody else changes a tile; as it is then, for it may have grown."""
    index = open_group(location).index(tile)
    with place_at(location).tile_locked(index):
        yield open_group(location, writable=True)


def mark_failed(location: CubeLocation, tile: Tile, error: str) -> None:
    """Keep the error of a tile that cannot be computed; a tile that is done stays so.

    A tile that lacks only what an extension added keeps what it has, and its status: it counts as
    failed by its error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> from storage.ledger import read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     read_ledger(f"{folder}/cube.zarr").failed[spec.tiles[0]]
    'the worker died'
    """
    doing = f"mark the tile {tile} of {location} as failed"
    with storage_errors(doing), _alone(location, tile) as cube:
        index = cube.index(tile)
        done = cube.array("status")[index] == Status.DONE
        if done and cube.array("grid")[index] == len(cube.grids) - 1:
            return
        cube.array("error")[index] = _without_folders(location, error)[:LONGEST_ERROR]
        if not done:
            cube.array("status")[index] = Status.FAILED


def _without_folders(location: CubeLocation, error: str) -> str:
    """Leave out where the cube and the user's files lie: cubes are given to others."""
    return error.replace(str(location), "CUBE").replace(str(Path.home()), "~")


def forgive(location: CubeLocation, tiles: Iterable[Tile]) -> None:
    """Let failed tiles be tried again; what an extended cube has of them stays.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> from storage.ledger import read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     forgive(f"{folder}/cube.zarr", spec.tiles[:1])
    ...     len(read_ledger(f"{folder}/cube.zarr").failed)
    0
    """
    for tile in tiles:
        doing = f"let the tile {tile} of {location} be tried again"
        with storage_errors(doing), _alone(location, tile) as cube:
            index = cube.index(tile)
            cube.array("error")[index] = ""
            if cube.array("status")[index] == Status.FAILED:
                cube.array("status")[index] = Status.MISSING


def mark_missing(location: CubeLocation, tiles: Iterable[Tile]) -> None:
    """Forget all about some tiles, so that they are computed again.

    Their status goes first: a kill leaves no tile that is done without results.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> from storage.ledger import read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     mark_missing(f"{folder}/cube.zarr", spec.tiles[:1])
    ...     len(read_ledger(f"{folder}/cube.zarr").failed)
    0
    """
    for tile in tiles:
        doing = f"mark the tile {tile} of {location} as missing"
        with storage_errors(doing), _alone(location, tile) as cube:
            for name in dict.fromkeys(("status", *variables(cube.spec.scores))):
                array = cube.array(name)
                array[cube.index(tile)] = array.fill_value


def _placed(cube: Cube, tile: Tile, results: Iterable[BlockResult]) -> Values:
    """Return results on the axes of the cube, fill values where there are none."""
    values = {
        variable.name: np.full(
            [cube.axes.length(dim) for dim in variable.dims], variable.fill, variable.dtype
        )
        for variable in cube.results(tile.config)
    }
    for result in results:
        for name, array in result.arrays.items():
            if name not in values:
                raise CubeError(f"{name} is no result of this sweep; it has {', '.join(values)}.")
            variable = ALL_RESULTS[name]
            places = cube.places(variable, result.block.p1, result.block.p2)
            shape = tuple(map(len, places))
            values[name][np.ix_(*places)] = _checked(cube, tile, variable, array, shape)
    return values


def _checked(
    cube: Cube, tile: Tile, variable: Variable, given: NDArray[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    if given.shape != shape:
        raise CubeError(f"{variable.name} of {tile} has the shape {given.shape}, not {shape}.")
    problem = variable.problem(given, cube.clusters(tile))
    if problem:
        raise CubeError(f"Results of {tile} cannot be right: {problem}. Nothing was written.")
    return given


def _has_value(variable: Variable, values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(values != 0 if variable.is_count else ~np.isnan(values))


def _newest_whole(cube: Cube, values: Values) -> int:
    """Return the newest of the cube's grids that has no empty cell, or -1."""
    for number in reversed(range(len(cube.grids))):
        if not _lacking(cube, values, cube.grids[number]):
            return number
    return -1


def _lacking(cube: Cube, values: Values, grid: Grid) -> list[str]:
    """Return the variables with empty cells in a grid."""
    lacking = []
    for name in values:
        variable = ALL_RESULTS[name]
        places = cube.places(variable, grid.p1, grid.p2)
        if not _has_value(variable, values[name][np.ix_(*places)]).all():
            lacking.append(name)
    return lacking


def _merge_stored(cube: Cube, tile: Tile, values: Values) -> float:
    """Fill empty cells with what a done tile has stored; return the seconds that took."""
    index = cube.index(tile)
    if cube.array("status")[index] != Status.DONE:
        return 0.0
    for variable in cube.results(tile.config):
        new = values[variable.name]
        stored = np.asarray(cube.array(variable.name)[index])
        values[variable.name] = np.where(_has_value(variable, new), new, stored)
    return float(cube.array("tile_seconds")[index])  # type: ignore[arg-type]


def _refuse_partial(cube: Cube, tile: Tile, values: Values, grid: int) -> None:
    if grid < 0:
        lacking = ", ".join(_lacking(cube, values, cube.grids[0]))
        raise CubeError(
            f"Results of {tile} are not whole: cells are missing in {lacking}. Nothing was "
            "written; compute all that `todo` lists for the tile."
        )
