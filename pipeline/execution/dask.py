"""Run a sweep on Dask: a graph of blocks, and one write per tile."""

from collections.abc import Generator, Iterator
from functools import partial
from typing import Any
from uuid import uuid4

import dask
from dask.base import annotate
from dask.highlevelgraph import HighLevelGraph
from dask.typing import Key
from distributed import Client, KilledWorker, as_completed

from pipeline.errors import SchedulerLostError
from pipeline.execution.tile_tasks import (
    BlocksByTile,
    Outcome,
    TileStore,
    compute_block,
    outcome_of,
    write_blocks,
)
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block

#: How often a block or a write that raised an error is retried before its tile fails.
RETRIES = 3


def run_on_dask(
    client: Client, spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> Generator[Outcome, None, None]:
    """Compute tiles on the workers of a client, which also write them.

    Parameters
    ----------
    client : distributed.Client
        Its workers can import this package and reach the store.
    spec, blocks_by_tile, store
        As for `run_serially`. `store` is pickled.

    Yields
    ------
    Outcome
        One per tile, as they end. Work begins in the order of `blocks_by_tile`.

    Raises
    ------
    SchedulerLostError
        If the connection to the scheduler is lost. Tiles in the store are safe.

    Notes
    -----
    Blocks on a lost worker are computed again. When a worker dies, Dask counts a failure for
    every task that it had been sent. Tiles with too many failures are therefore retried one at a
    time, so that no tile fails because of another.

    Examples
    --------
    >>> class FullStore:
    ...     def is_wanted(self, tile):
    ...         return False
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> blocks_by_tile = {tile: [Block(tile, ("imwk",), (1.5,), ())] for tile in spec.tiles}
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     len(list(run_on_dask(client, spec, blocks_by_tile, FullStore())))
    4
    """
    suspects = []
    for tile, error in _ended(client, spec, blocks_by_tile, store):
        if isinstance(error, KilledWorker):
            suspects.append(tile)
        else:
            yield outcome_of(tile, error)
    for suspect in suspects:
        for tile, error in _ended(client, spec, {suspect: blocks_by_tile[suspect]}, store):
            yield _retried_outcome(tile, error)


def _retried_outcome(tile: Tile, error: BaseException | None) -> Outcome:
    if not isinstance(error, KilledWorker):
        return outcome_of(tile, error)
    return Outcome(
        tile,
        f"Its worker died {error.allowed_failures + 1} times: it crashed, was killed or had too "
        "little memory.",
    )


def build_graph(
    spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> tuple[dict[Key, Any], dict[Key, Tile]]:
    """Return the Dask graph of some tiles, and the tile of each write's key.

    Tasks contain coordinates, never data. Every graph has new task names, because a scheduler that
    serves several sweeps must not confuse their tasks.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> blocks = [Block(spec.tiles[0], ("imwk",), (p,), ()) for p in spec.p1]
    >>> graph, writes = build_graph(spec, {spec.tiles[0]: blocks}, store=None)
    >>> len(graph), len(writes)
    (41, 1)
    """
    unique = uuid4().hex
    compute, write = partial(compute_block, spec, store), partial(write_blocks, store)
    graph: dict[Key, Any] = {}
    writes: dict[Key, Tile] = {}
    for number, (tile, blocks) in enumerate(blocks_by_tile.items()):
        parts: dict[Key, Block] = {
            (f"block-{unique}", number, place): block for place, block in enumerate(blocks)
        }
        graph |= {key: (compute, block) for key, block in parts.items()}
        key: Key = (f"write-{unique}", number, len(blocks))
        graph[key] = (write, tile, list(parts))
        writes[key] = tile
    return graph, writes


def _ended(
    client: Client, spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> Iterator[tuple[Tile, BaseException | None]]:
    """Yield each tile when it ends, with its error if it failed. Cancel the rest when closed."""
    graph, writes = build_graph(spec, blocks_by_tile, store)
    # For a plain dict, Dask would compute a name from all of its contents.
    named = HighLevelGraph.from_collections(f"sweep-{uuid4().hex}", graph)
    with (
        # The graph is large but contains no data
        dask.config.set({"distributed.admin.large-graph-warning-threshold": "1GB"}),
        annotate(priority=_earlier_tiles_first, retries=RETRIES),
    ):
        futures = client.get(named, list(writes), sync=False)
    try:
        for future in as_completed(futures, loop=client.loop):
            if future.cancelled():
                raise SchedulerLostError(
                    "The connection to the scheduler was lost. Tiles that are done are safe in "
                    "the cube. Start a scheduler and submit again."
                )
            error = future.exception()
            future.release()  # otherwise the scheduler would keep all tasks until the end
            yield writes[future.key], error
    finally:
        if client.status == "running":
            client.cancel(futures)


def _earlier_tiles_first(key: tuple[str, int, int]) -> int:
    _, number, _ = key
    return -number
