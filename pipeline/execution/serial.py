"""Run a sweep in this process, tile by tile: the reference for other executors."""

from collections.abc import Generator

from pipeline.execution.tile_tasks import (
    BlocksByTile,
    Outcome,
    TileStore,
    compute_block,
    outcome_of,
    write_blocks,
)
from pipeline.spec import SweepSpec


def run_serially(
    spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> Generator[Outcome, None, None]:
    """Compute tiles one by one in this process.

    Parameters
    ----------
    spec : SweepSpec
        The sweep.
    blocks_by_tile : mapping of Tile to sequence of Block
        What to compute.
    store : TileStore
        Where to write results.

    Yields
    ------
    Outcome
        One per tile, in the order of `blocks_by_tile`.

    Examples
    --------
    >>> class PrintingStore:
    ...     def is_wanted(self, tile):
    ...         return True
    ...     def write(self, tile, results):
    ...         print(tile, [result.block.p1 for result in results])
    >>> from pipeline.spec.blocks import Block
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> tile = spec.tiles[0]
    >>> blocks_by_tile = {tile: [Block(tile, ("imwk",), (p,), ()) for p in (1.5, 2.0)]}
    >>> [outcome.error for outcome in run_serially(spec, blocks_by_tile, PrintingStore())]
    1000x6-3, data set 0, z-score [(1.5,), (2.0,)]
    [None]
    """
    for tile, blocks in blocks_by_tile.items():
        try:
            write_blocks(store, tile, [compute_block(spec, store, block) for block in blocks])
        except Exception as error:
            yield outcome_of(tile, error)
        else:
            yield Outcome(tile)
