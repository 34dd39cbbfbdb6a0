"""How a sweep runs: blocks fan in to one write for each tile, one by one or on Dask."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol
from uuid import uuid4

import dask
from dask.base import annotate
from dask.highlevelgraph import HighLevelGraph
from dask.typing import Key
from distributed import Client, KilledWorker, as_completed

from pipeline.core.errors import ImwkError
from pipeline.datasets import Table
from pipeline.execution.block import Block, BlockResult, run_block, split_block
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.exponents import exponents_in_words

#: How often a block that raised, or a write that failed, is tried again before its tile fails.
RETRIES = 3

#: What to compute, by tile, in the order in which it is wanted.
Jobs = Mapping[Tile, Sequence[Block]]


class ClusterLostError(ImwkError):
    """The scheduler is gone, and all that was not in the cube yet with it."""


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


def split_jobs(jobs: Jobs, size: int) -> Jobs:
    """Split all blocks into some of at most `size` p1.

    Examples
    --------
    >>> tile = Tile("1000x6-3", 0, "range")
    >>> jobs = {tile: [Block(tile, ("imwk",), (1.5, 2.0, 3.0), ())]}
    >>> [block.p1 for block in split_jobs(jobs, 2)[tile]]
    [(1.5, 2.0), (3.0,)]
    """
    return {
        tile: tuple(part for block in blocks for part in split_block(block, size))
        for tile, blocks in jobs.items()
    }


def run_serially(spec: SweepSpec, jobs: Jobs, store: TileStore) -> Generator[Outcome, None, None]:
    """Compute tiles one by one in this process: the reference for every other way to run.

    Parameters
    ----------
    spec : SweepSpec
        The sweep.
    jobs : mapping of Tile to sequence of Block
        What to compute.
    store : TileStore
        Where results go.

    Yields
    ------
    Outcome
        Of each tile, in the order of `jobs`.

    Examples
    --------
    >>> class Shown:
    ...     def is_wanted(self, tile):
    ...         return True
    ...     def write(self, tile, results):
    ...         print(tile, [result.block.p1 for result in results])
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> tile = spec.tiles[0]
    >>> jobs = {tile: [Block(tile, ("imwk",), (p,), ()) for p in (1.5, 2.0)]}
    >>> [outcome.error for outcome in run_serially(spec, jobs, Shown())]
    1000x6-3, data set 0, z-score [(1.5,), (2.0,)]
    [None]
    """
    for tile, blocks in jobs.items():
        try:
            _write(store, tile, [_compute(spec, store, block) for block in blocks])
        except Exception as error:
            yield _outcome(tile, error)
        else:
            yield Outcome(tile)


def run_on_dask(
    client: Client, spec: SweepSpec, jobs: Jobs, store: TileStore
) -> Generator[Outcome, None, None]:
    """Compute tiles on the workers of a client, which also write them.

    Parameters
    ----------
    client : distributed.Client
        Of a cluster whose processes can import this package and reach the store.
    spec, jobs, store
        As for `run_serially`; `store` is pickled.

    Yields
    ------
    Outcome
        Of each tile, as they end. Work begins in the order of `jobs`.

    Raises
    ------
    ClusterLostError
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
    >>> jobs = {tile: [Block(tile, ("imwk",), (1.5,), ())] for tile in spec.tiles}
    >>> with Client(processes=False, n_workers=1, dashboard_address="127.0.0.1:0") as client:
    ...     len(list(run_on_dask(client, spec, jobs, Everything())))
    4
    """
    suspects = []
    for tile, error in _ended(client, spec, jobs, store):
        if isinstance(error, KilledWorker):
            suspects.append(tile)
        else:
            yield _outcome(tile, error)
    for suspect in suspects:
        for tile, error in _ended(client, spec, {suspect: jobs[suspect]}, store):
            yield _outcome(tile, error)


def build_graph(
    spec: SweepSpec, jobs: Jobs, store: TileStore
) -> tuple[dict[Key, Any], dict[Key, Tile]]:
    """Return the Dask graph of some tiles, and the key of the write of each.

    Tasks get coordinates, never data. Names are new in every graph: a scheduler that serves
    several sweeps must not take one's tasks for another's.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> jobs = {tile: [Block(tile, ("imwk",), (p,), ()) for p in spec.p1] for tile in spec.tiles}
    >>> graph, writes = build_graph(spec, jobs, store=None)
    >>> len(graph), len(writes)
    (164, 4)
    """
    run = uuid4().hex
    compute, write = partial(_compute, spec, store), partial(_write, store)
    graph: dict[Key, Any] = {}
    writes: dict[Key, Tile] = {}
    for number, (tile, blocks) in enumerate(jobs.items()):
        parts: dict[Key, Block] = {
            (f"block-{run}", number, place): block for place, block in enumerate(blocks)
        }
        graph |= {key: (compute, block) for key, block in parts.items()}
        key: Key = (f"write-{run}", number, len(blocks))
        graph[key] = (write, tile, list(parts))
        writes[key] = tile
    return graph, writes


def _ended(
    client: Client, spec: SweepSpec, jobs: Jobs, store: TileStore
) -> Iterator[tuple[Tile, BaseException | None]]:
    """Yield tiles as they end, with the error of those that failed; cancel the rest on closing."""
    graph, writes = build_graph(spec, jobs, store)
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
                raise ClusterLostError(
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


def _compute(spec: SweepSpec, store: TileStore, block: Block) -> BlockResult | None:
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


def _write(store: TileStore, tile: Tile, results: Sequence[BlockResult | None]) -> None:
    computed = [result for result in results if result is not None]
    if len(computed) == len(results):
        store.write(tile, computed)


def _outcome(tile: Tile, error: BaseException | None) -> Outcome:
    return Outcome(tile, None if error is None else _in_words(error))


def _in_words(error: BaseException) -> str:
    if isinstance(error, KilledWorker):
        return (
            f"Its worker died {error.allowed_failures + 1} times: it crashed, was killed or had "
            "too little memory."
        )
    notes = ", ".join(getattr(error, "__notes__", ()))
    return f"{type(error).__name__}{notes and f' {notes}'}: {error}"
