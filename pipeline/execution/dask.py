"""Run a sweep on Dask: a graph of blocks, and one write for each tile."""

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
from pipeline.execution.block import Block
from pipeline.execution.fan_in import (
    BlocksByTile,
    Outcome,
    TileStore,
    compute_block,
    outcome_of,
    write_blocks,
)
from pipeline.spec import SweepSpec, Tile

#: How often a block that raised, or a write that failed, is tried again before its tile fails.
RETRIES = 3


def run_on_dask(
    client: Client, spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> Generator[Outcome, None, None]:
    """Compute tiles on the workers of a client, which also write them.

    Parameters
    ----------
    client : distributed.Client
        Of a cluster whose processes can import this package and reach the store.
    spec, blocks_by_tile, store
        As for `run_serially`; `store` is pickled.

    Yields
    ------
    Outcome
        Of each tile, as they end. Work begins in the order of `blocks_by_tile`.

    Raises
    ------
    SchedulerLostError
        If the scheduler is lost. What is in the store is safe.

    Notes
    -----
    Blocks that a lost worker held are computed again. When a worker dies, Dask blames all tasks
    that it had been sent; so tiles that were blamed too often are tried again one at a time, when
    none can suffer for another.

    Examples
    --------
    >>> class Everything:
    ...     def is_wanted(self, tile):
    ...         return False
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> blocks_by_tile = {tile: [Block(tile, ("imwk",), (1.5,), ())] for tile in spec.tiles}
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     len(list(run_on_dask(client, spec, blocks_by_tile, Everything())))
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
            yield outcome_of(tile, error)


def build_graph(
    spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> tuple[dict[Key, Any], dict[Key, Tile]]:
    """Return the Dask graph of some tiles, and the key of the write of each.

    Tasks get coordinates, never data. Names are new in every graph: a scheduler that serves
    several sweeps must not take one's tasks for another's.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> blocks = [Block(spec.tiles[0], ("imwk",), (p,), ()) for p in spec.p1]
    >>> graph, writes = build_graph(spec, {spec.tiles[0]: blocks}, store=None)
    >>> len(graph), len(writes)
    (41, 1)
    """
    run = uuid4().hex
    compute, write = partial(compute_block, spec, store), partial(write_blocks, store)
    graph: dict[Key, Any] = {}
    writes: dict[Key, Tile] = {}
    for number, (tile, blocks) in enumerate(blocks_by_tile.items()):
        parts: dict[Key, Block] = {
            (f"block-{run}", number, place): block for place, block in enumerate(blocks)
        }
        graph |= {key: (compute, block) for key, block in parts.items()}
        key: Key = (f"write-{run}", number, len(blocks))
        graph[key] = (write, tile, list(parts))
        writes[key] = tile
    return graph, writes


def _ended(
    client: Client, spec: SweepSpec, blocks_by_tile: BlocksByTile, store: TileStore
) -> Iterator[tuple[Tile, BaseException | None]]:
    """Yield tiles as they end, with the error of those that failed; cancel the rest on closing."""
    graph, writes = build_graph(spec, blocks_by_tile, store)
    # Dask would work out a name for a plain dict by walking through all of it.
    named = HighLevelGraph.from_collections(f"sweep-{uuid4().hex}", graph)
    with (
        dask.config.set(
            {"distributed.admin.large-graph-warning-threshold": "1GB"}
        ),  # no data in it
        annotate(priority=_earlier_tiles_first, retries=RETRIES),
    ):
        futures = client.get(named, list(writes), sync=False)
    try:
        for future in as_completed(futures, loop=client.loop):
            if future.cancelled():
                raise SchedulerLostError(
                    "The connection to the scheduler was lost. Tiles that are done are safe in "
                    "the cube: start a scheduler and submit again."
                )
            error = future.exception()
            future.release()  # or the scheduler would keep all tasks until the end
            yield writes[future.key], error
    finally:
        if client.status == "running":
            client.cancel(futures)


def _earlier_tiles_first(key: tuple[str, int, int]) -> int:
    _, number, _ = key
    return -number
