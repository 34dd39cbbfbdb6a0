"""Write and read what a tile keeps of its runs: their labels and feature weights.

The arrays of a large table do not fit into memory beside the results of the blocks. So they are
written and checked in spans: the p1 of one chunk at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from pipeline.execution.block import BlockResult
from pipeline.spec import Tile
from pipeline.spec.blocks import Block
from storage.errors import CubeError, storage_errors
from storage.handle import CubeHandle
from storage.layout.kept import KeptVariable, Sizes

#: Some neighbouring p1, as an index; empty if a variable has no exponents.
Span = tuple[slice, ...]
#: An index of cells in an array.
Cells = tuple[NDArray[np.intp], ...]


@dataclass(frozen=True, eq=False)
class KeptArray:
    """One array of what is kept of a tile."""

    handle: CubeHandle
    tile: Tile
    variable: KeptVariable

    @property
    def sizes(self) -> Sizes:
        """What determines the array."""
        return Sizes.of(self.handle.spec, self.tile.config)

    def spans(self) -> Iterator[Span]:
        """Yield all spans of p1."""
        if not self.variable.dims:
            yield ()
            return
        step, length = self._array.chunks[len(self._tile)], self.handle.axes.length("p1")
        for first in range(0, length, step):
            yield (slice(first, min(first + step, length)),)

    def read(self, span: Span = ()) -> NDArray[Any]:
        """Return the stored values in a span, by default all."""
        with storage_errors(f"read {self.variable.name} of the tile {self.tile} of {self._where}"):
            return self.decode(span)

    def decode(self, span: Span) -> NDArray[Any]:
        """Return the stored values in a span, or raise the error of Zarr."""
        return np.asarray(self._array[self._place(span)])

    def empty(self, span: Span) -> NDArray[Any]:
        """Return a span without values."""
        lengths = (rows.stop - rows.start for rows in span)
        inner = self._array.shape[len(self._tile) + len(span) :]
        return np.full((*lengths, *inner), self.variable.fill(self.sizes), self._array.dtype)

    def write(self, span: Span, values: Any) -> None:
        """Write the values in a span, which are complete chunks."""
        with storage_errors(f"write the tile {self.tile} of {self._where}"):
            self._array[self._place(span)] = values

    def cells(
        self, p1: Sequence[float], p2: Sequence[float], span: Span = ()
    ) -> tuple[Cells, Cells]:
        """Return the indices of cells: in results of all these exponents, and in a span."""
        positions = self.handle.positions(self.variable, p1, p2)
        given = [np.arange(len(some)) for some in positions]
        for rows in span:
            inside = (positions[0] >= rows.start) & (positions[0] < rows.stop)
            given[0], positions[0] = given[0][inside], positions[0][inside] - rows.start
        return np.ix_(*given), np.ix_(*positions)

    @property
    def _array(self) -> zarr.Array[Any]:
        return self.handle.kept_array(self.tile.config, self.variable)

    @property
    def _tile(self) -> tuple[int, int]:
        return self.handle.index(self.tile)[1:]

    def _place(self, span: Span) -> tuple[int | slice, ...]:
        return (*self._tile, *span)

    @property
    def _where(self) -> str:
        return str(self.handle.location)


def kept_arrays(handle: CubeHandle, tile: Tile) -> list[KeptArray]:
    """Return all arrays of what is kept of a tile; none if the cube keeps nothing."""
    return [KeptArray(handle, tile, variable) for variable in handle.kept]


def check_kept(handle: CubeHandle, tile: Tile, results: Sequence[BlockResult]) -> None:
    """Raise `CubeError` if results lack something that the cube keeps, or cannot be right."""
    for array in kept_arrays(handle, tile):
        for result in results:
            if array.variable.part in result.block.parts:
                _check(array, result)


def write_kept(
    handle: CubeHandle, tile: Tile, results: Sequence[BlockResult], *, merge: bool
) -> None:
    """Write what is kept of a tile, as complete chunks.

    Parameters
    ----------
    handle : CubeHandle
        The cube in its present state.
    tile : Tile
        The tile, which the caller has locked.
    results : sequence of BlockResult
        Results that `check_kept` accepts.
    merge : bool
        Whether the tile is done for an older grid: cells that are not in `results` keep their
        values. Otherwise they are emptied.
    """
    for array in kept_arrays(handle, tile):
        for span in array.spans():
            new = list(_in_span(array, results, span))
            if merge and not any(given.size for _, given in new):
                continue
            values = array.read(span) if merge else array.empty(span)
            for place, given in new:
                values[place] = given
            array.write(span, values)


def clear_kept(handle: CubeHandle, tile: Tile) -> None:
    """Remove what is kept of a tile."""
    for array in kept_arrays(handle, tile):
        for span in array.spans():
            array.write(span, array.variable.fill(array.sizes))


def read_kept(handle: CubeHandle, tile: Tile) -> dict[str, NDArray[Any]]:
    """Return what is kept of a tile that is done, in the order of the cube's spec."""
    spec, kept = handle.spec, kept_arrays(handle, tile)
    return {array.variable.name: array.read()[array.cells(spec.p1, spec.p2)[1]] for array in kept}


def _in_span(
    array: KeptArray, results: Sequence[BlockResult], span: Span
) -> Iterator[tuple[Cells, NDArray[Any]]]:
    """Yield which cells of a span are in each of some results, and their values."""
    for result in results:
        if array.variable.name in result.arrays:
            given, place = array.cells(result.block.p1, result.block.p2, span)
            yield place, result.arrays[array.variable.name][given]


def _check(array: KeptArray, result: BlockResult) -> None:
    name, tile = array.variable.name, array.tile
    if name not in result.arrays:
        raise CubeError(
            f"Results of {tile} are not complete: {name} is missing. Nothing was written. Compute "
            "all blocks that the ledger lists for the tile, with the spec of the cube."
        )
    given, shape = result.arrays[name], _shape(array, result.block)
    if given.shape != shape:
        raise CubeError(f"{name} of {tile} has the shape {given.shape}, not {shape}.")
    # One p1 after the other, because a comparison needs as much memory as what is compared.
    for some in given if array.variable.dims else [given]:
        problem = array.variable.problem(some, array.sizes)
        if problem:
            raise CubeError(f"Results of {tile} cannot be right: {problem}. Nothing was written.")


def _shape(array: KeptArray, block: Block) -> tuple[int, ...]:
    exponents = {"p1": len(block.p1), "p2": len(block.p2)}
    runs = (exponents[dim] for dim in array.variable.dims)
    return (*runs, *map(array.sizes.length, array.variable.inner))
