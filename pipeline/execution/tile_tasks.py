"""The tasks of a tile, for both executors: compute its blocks, then write them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from pipeline.datasets import Table
from pipeline.execution.block import BlockResult, run_block
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block, split_block
from pipeline.spec.exponents import describe_exponents

#: What to compute, by tile, in order of priority.
BlocksByTile = Mapping[Tile, Sequence[Block]]


class TileStore(Protocol):
    """Where tiles are written. This layer knows no files, so the store is passed in and pickled."""

    def is_wanted(self, tile: Tile) -> bool:
        """Return whether the tile still has to be computed."""

    def write(self, tile: Tile, results: Sequence[BlockResult]) -> None:
        """Store the results of all blocks of a tile."""

    def table(self, tile: Tile) -> Table:
        """Return the table of a tile whose data are not synthetic."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of a tile: it is in the store, or `error` is the reason why it is not."""

    tile: Tile
    error: str | None = None


def split_blocks(blocks_by_tile: BlocksByTile, size: int) -> BlocksByTile:
    """Split all blocks into blocks of at most `size` p1.

    Examples
    --------
    >>> tile = Tile("1000x6-3", 0, "range")
    >>> blocks_by_tile = {tile: [Block(tile, ("imwk",), (1.5, 2.0, 3.0), ())]}
    >>> [block.p1 for block in split_blocks(blocks_by_tile, 2)[tile]]
    [(1.5, 2.0), (3.0,)]
    """
    return {
        tile: tuple(part for block in blocks for part in split_block(block, size))
        for tile, blocks in blocks_by_tile.items()
    }


def compute_block(spec: SweepSpec, store: TileStore, block: Block) -> BlockResult | None:
    """Compute a block, unless its tile is done or the sweep was cancelled.

    A tile can be done already because another sweep writes to the same store, or because the
    worker that wrote it died before the scheduler knew: then Dask computes its blocks again.
    """
    if not store.is_wanted(block.tile):
        return None
    try:
        return run_block(spec, block, _table(spec, store, block.tile))
    except Exception as error:
        error.add_note(f"in the block p1 = {describe_exponents(block.p1)}")
        raise


def _table(spec: SweepSpec, store: TileStore, tile: Tile) -> Table | None:
    return store.table(tile) if tile.config in spec.datasets.matrices else None


def write_blocks(store: TileStore, tile: Tile, results: Sequence[BlockResult | None]) -> None:
    """Write a tile, unless some of its blocks were not computed."""
    computed = [result for result in results if result is not None]
    if len(computed) == len(results):
        store.write(tile, computed)


def outcome_of(tile: Tile, error: BaseException | None) -> Outcome:
    """Return the outcome of a tile, with its error as text.

    Examples
    --------
    >>> outcome_of(Tile("1000x6-3", 0, "range"), ValueError("out of range")).error
    'ValueError: out of range'
    """
    if error is None:
        return Outcome(tile)
    notes = ", ".join(getattr(error, "__notes__", ()))
    return Outcome(tile, f"{type(error).__name__}{notes and f' {notes}'}: {error}")
