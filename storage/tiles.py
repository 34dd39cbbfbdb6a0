"""Write and read a tile: its results, or the error that it failed with."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.execution.block import BlockResult
from pipeline.spec import Tile
from storage.backends.location import CubeLocation
from storage.compatibility import refuse_other_rules
from storage.errors import CubeError, disk_errors, storage_errors
from storage.handle import AnyCube, CubeHandle, as_handle
from storage.kept import check_kept, clear_kept, read_kept, write_kept
from storage.layout.grids import Grid
from storage.layout.schema import Status, Variable, results_of_spec, variables_of_spec

#: Longer errors of failed tiles are truncated.
LONGEST_ERROR = 10_000

Values = dict[str, NDArray[Any]]


def write_tile(cube: AnyCube, tile: Tile, results: Iterable[BlockResult]) -> None:
    """Write the results of a tile, and then its status.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        An existing cube. It may have been extended since a handle was opened.
    tile : Tile
        A tile of the cube's sweep.
    results : iterable of BlockResult
        The results of all blocks that the ledger's `todo` lists for the tile, split or not, in any
        order. The tile keeps the results that it had before an extension.

    Raises
    ------
    CubeError
        If cells are missing, out of range or not in this cube; nothing is written then. If the disk
        is full, the tile does not become done, and can be written again.

    Notes
    -----
    All results are written as complete chunks, then the grid that they are complete for, then the
    status: a kill leaves the tile in its previous state, or done. Writing a tile twice gives the
    same cube.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube, open_cube
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
    with _changing("write the tile {}", cube, tile) as handle:
        values = _placed(handle, tile, pieces)
        check_kept(handle, tile, pieces)
        merge = bool(_lacking(handle, values, handle.grids[-1])) and _is_done(handle, tile)
        if merge:
            seconds += _merge_stored(handle, tile, values)
        grid = _newest_complete(handle, tile, values)
        # This order is the promise: a tile is done only if its results and its grid are stored.
        write_kept(handle, tile, pieces, merge=merge)
        _store(handle, tile, values | {"tile_seconds": seconds, "error": ""})
        _store(handle, tile, {"grid": grid})
        _store(handle, tile, {"status": Status.DONE})


def read_tile(cube: AnyCube, tile: Tile) -> Values:
    """Return the results of a tile that is done, in the order of the cube's spec."""
    handle = as_handle(cube)
    return read_kept(handle, tile) | {
        variable.name: _stored(handle, tile, variable.name)[
            np.ix_(*handle.positions(variable, handle.spec.p1, handle.spec.p2))
        ]
        for variable in handle.results(tile.config)
    }


def mark_failed(cube: AnyCube, tile: Tile, error: str) -> None:
    """Store the error of a tile that cannot be computed; a tile that is done stays done.

    A tile that lacks only the cells of an extension keeps its results and its status: it counts as
    failed because it has an error.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube, read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     read_ledger(f"{folder}/cube.zarr").failed[spec.tiles[0]]
    'the worker died'
    """
    with _changing("mark the tile {} as failed", cube, tile) as handle:
        done = _is_done(handle, tile)
        if done and _stored(handle, tile, "grid") == len(handle.grids) - 1:
            return
        text = _without_folders(handle.location, error)[:LONGEST_ERROR]
        _store(handle, tile, {"error": text})
        if not done:
            _store(handle, tile, {"status": Status.FAILED})


def reset_failed(cube: AnyCube, tiles: Iterable[Tile]) -> None:
    """Let failed tiles be computed again; the results that they have are kept.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        An existing cube.
    tiles : iterable of Tile
        Such as those in `Ledger.failed`. The next submit computes what they lack.

    Raises
    ------
    CubeMismatchError
        If the cube was computed by other rules, so that no submit can compute them.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube, read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     reset_failed(f"{folder}/cube.zarr", read_ledger(f"{folder}/cube.zarr").failed)
    ...     len(read_ledger(f"{folder}/cube.zarr").failed)
    0
    """
    opened = as_handle(cube)
    refuse_other_rules(opened.location, opened.spec)
    for tile in tiles:
        with _changing("clear the error of the tile {}", opened, tile) as handle:
            _store(handle, tile, {"error": ""})
            if _stored(handle, tile, "status") == Status.FAILED:
                _store(handle, tile, {"status": Status.MISSING})


def mark_missing(cube: AnyCube, tiles: Iterable[Tile]) -> None:
    """Remove all results of some tiles, so that they are computed again.

    The status is removed first: a kill does not leave a tile that is done but has no results.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube, read_ledger
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     mark_failed(f"{folder}/cube.zarr", spec.tiles[0], "the worker died")
    ...     mark_missing(f"{folder}/cube.zarr", spec.tiles[:1])
    ...     len(read_ledger(f"{folder}/cube.zarr").failed)
    0
    """
    opened = as_handle(cube)
    for tile in tiles:
        with _changing("mark the tile {} as missing", opened, tile) as handle:
            for name in dict.fromkeys(("status", *variables_of_spec(handle.spec))):
                _store(handle, tile, {name: handle.array(name).fill_value})
            clear_kept(handle, tile)


@contextmanager
def _changing(doing: str, cube: AnyCube, tile: Tile) -> Iterator[CubeHandle]:
    """Lock a tile, and give the handle of the cube in its present state, which may be extended."""
    opened = as_handle(cube)
    with (
        disk_errors(f"{doing.format(tile)} of {opened.location}"),
        opened.backend.tile_locked(opened.index(tile)),
    ):
        yield opened.current()


def _without_folders(location: CubeLocation, error: str) -> str:
    """Remove the paths of the cube and of the user's home: a cube may be given to others."""
    return error.replace(str(location), "CUBE").replace(str(Path.home()), "~")


def _placed(handle: CubeHandle, tile: Tile, results: Iterable[BlockResult]) -> Values:
    """Return results on the axes of the cube, with fill values where there are none."""
    values = {
        variable.name: np.full(
            [handle.axes.length(dim) for dim in variable.dims], variable.fill, variable.dtype
        )
        for variable in handle.results(tile.config)
    }
    kept, known = {variable.name for variable in handle.kept}, results_of_spec(handle.spec)
    for result in results:
        for name, array in result.arrays.items():
            if name in kept:
                continue
            if name not in values:
                raise CubeError(
                    f"{name} is not a result of this sweep, which has {', '.join(values)}."
                )
            variable = known[name]
            positions = handle.positions(variable, result.block.p1, result.block.p2)
            shape = tuple(map(len, positions))
            values[name][np.ix_(*positions)] = _checked(handle, tile, variable, array, shape)
    return values


def _checked(
    handle: CubeHandle, tile: Tile, variable: Variable, given: NDArray[Any], shape: tuple[int, ...]
) -> NDArray[Any]:
    if given.shape != shape:
        raise CubeError(f"{variable.name} of {tile} has the shape {given.shape}, not {shape}.")
    problem = variable.problem(given, handle.clusters(tile))
    if problem:
        raise CubeError(f"Results of {tile} cannot be right: {problem}. Nothing was written.")
    return given


def _has_value(variable: Variable, values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(values != 0 if variable.is_count else ~np.isnan(values))


def _newest_complete(handle: CubeHandle, tile: Tile, values: Values) -> int:
    """Return the number of the newest grid that has no empty cell.

    Raises
    ------
    CubeError
        If there is none.
    """
    for number in reversed(range(len(handle.grids))):
        lacking = _lacking(handle, values, handle.grids[number])
        if not lacking:
            return number
    raise CubeError(
        f"Results of {tile} are not complete: cells are missing in {', '.join(lacking)}. Nothing "
        "was written. Compute all blocks that the ledger lists for the tile."
    )


def _lacking(handle: CubeHandle, values: Values, grid: Grid) -> list[str]:
    """Return the variables with empty cells in a grid."""
    lacking, known = [], results_of_spec(handle.spec)
    for name in values:
        variable = known[name]
        positions = handle.positions(variable, grid.p1, grid.p2)
        if not _has_value(variable, values[name][np.ix_(*positions)]).all():
            lacking.append(name)
    return lacking


def _merge_stored(handle: CubeHandle, tile: Tile, values: Values) -> float:
    """Fill empty cells with the stored results of a done tile; return the seconds of those."""
    for variable in handle.results(tile.config):
        new = values[variable.name]
        stored = _stored(handle, tile, variable.name)
        values[variable.name] = np.where(_has_value(variable, new), new, stored)
    return float(_stored(handle, tile, "tile_seconds"))


def _is_done(handle: CubeHandle, tile: Tile) -> bool:
    return bool(_stored(handle, tile, "status") == Status.DONE)


def _stored(handle: CubeHandle, tile: Tile, name: str) -> NDArray[Any]:
    """Return what an array has for a tile."""
    with storage_errors(f"read {name} of the tile {tile} of {handle.location}"):
        return np.asarray(handle.array(name)[handle.index(tile)])


def _store(handle: CubeHandle, tile: Tile, values: Mapping[str, Any]) -> None:
    """Write what arrays have for a tile, in the order of `values`."""
    with storage_errors(f"write the tile {tile} of {handle.location}"):
        for name, value in values.items():
            handle.array(name)[handle.index(tile)] = value
