"""Blocks fan in to one write for each tile: what all ways to run a sweep share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from distributed import KilledWorker

from pipeline.datasets import Table
from pipeline.execution.block import Block, BlockResult, run_block, split_block
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.exponents import exponents_in_words

#: What to compute, by tile, in the order in which it is wanted.
BlocksByTile = Mapping[Tile, Sequence[Block]]


class TileStore(Protocol):
    """Where tiles go: handed in, since what computes knows nothing of files; sent to workers."""

    def is_wanted(self, tile: Tile) -> bool:
        """Say whether a tile is still to be computed."""

    def write(self, tile: Tile, results: Sequence[BlockResult]) -> None:
        """Keep the results of all blocks of a tile."""

    def table(self, config: str) -> Table:
        """Return the data of a configuration that are not made from the seed."""


@dataclass(frozen=True)
class Outcome:
    """What became of a tile: it is in the store, or `error` says why not."""

    tile: Tile
    error: str | None = None


def split_blocks(blocks_by_tile: BlocksByTile, size: int) -> BlocksByTile:
    """Split all blocks into some of at most `size` p1.

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

    It is done when another sweep fills the same store, and when the worker that wrote it is lost
    before anyone heard of it: then Dask computes its blocks again.
    """
    if not store.is_wanted(block.tile):
        return None
    try:
        return run_block(spec, block, _table(spec, store, block.tile))
    except Exception as error:
        error.add_note(f"in the block p1 = {exponents_in_words(block.p1)}")
        raise


def _table(spec: SweepSpec, store: TileStore, tile: Tile) -> Table | None:
    return store.table(tile.config) if tile.config in spec.datasets.matrices else None


def write_blocks(store: TileStore, tile: Tile, results: Sequence[BlockResult | None]) -> None:
    """Write a tile, unless some of its blocks were not computed."""
    computed = [result for result in results if result is not None]
    if len(computed) == len(results):
        store.write(tile, computed)


def outcome_of(tile: Tile, error: BaseException | None) -> Outcome:
    """Return the outcome of a tile, with its error in words."""
    return Outcome(tile, None if error is None else _in_words(error))


def _in_words(error: BaseException) -> str:
    if isinstance(error, KilledWorker):
        return (
            f"Its worker died {error.allowed_failures + 1} times: it crashed, was killed or had "
            "too little memory."
        )
    notes = ", ".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}{notes and f' {notes}'}: {error}"
