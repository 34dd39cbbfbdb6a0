"""Submit a sweep: make or resume its cube, compute what is missing, say what became of it."""

import socket
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass
from functools import cache
from os import PathLike
from time import monotonic
from typing import Any
from uuid import NAMESPACE_OID, uuid4, uuid5

from distributed import Client

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table
from pipeline.execution.block import BlockResult
from pipeline.execution.dask import run_on_dask
from pipeline.execution.fan_in import split_blocks
from pipeline.execution.plan import default_block_size
from pipeline.execution.serial import run_serially
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.sweep import Sweep
from storage import (
    CubeLocation,
    cancel_mark,
    create_cube,
    is_done,
    mark_failed,
    read_ledger,
    record_run,
    stored_table,
    write_tile,
)
from storage.backends.location import absolute
from workflows.compute import Workplace, local_client, remote_client
from workflows.compute.probe import check_workers
from workflows.errors import CancelledSweepError
from workflows.presets import load_sweep


@dataclass(frozen=True)
class Started:
    """Workers are ready; what there is to do.

    Attributes
    ----------
    tiles, done, failed : int
        Of the whole sweep; what is neither done nor failed is to be computed now.
    workers : int
        How many there are at the moment; 0 if this process computes itself.
    dashboard : str or None
        Address of Dask's dashboard.
    """

    tiles: int
    done: int
    failed: int
    workers: int
    dashboard: str | None


@dataclass(frozen=True)
class TileEnded:
    """A tile is in the cube, or failed; `error` says why."""

    tile: Tile
    error: str | None


Event = Started | TileEnded


@dataclass(frozen=True)
class SweepReport:
    """What became of a sweep.

    Attributes
    ----------
    tiles : int
        Of the whole sweep.
    done_before, done : int
        Tiles that were done already, and those that are done now, with them.
    failed : mapping of Tile to str
        Why tiles failed, now or before.
    seconds : float
        From start to end.
    """

    tiles: int
    done_before: int
    done: int
    failed: Mapping[Tile, str]
    seconds: float

    def facts(self) -> dict[str, Any]:
        """Return all of it, for JSON."""
        errors = [{**asdict(tile), "error": error} for tile, error in self.failed.items()]
        return {
            "tiles": self.tiles,
            "done_before": self.done_before,
            "done": self.done,
            "failed": errors,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        words = f"{self.done} of {self.tiles} tiles done, {self.done_before} of them before"
        return f"{words}; {len(self.failed)} failed; {self.seconds:.0f} s"


def submit(
    spec: Sweep | SweepSpec | str | PathLike[str],
    cube: CubeLocation,
    client: Client | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    workplace: Workplace | None = None,
    on_event: Callable[[Event], None] | None = None,
) -> SweepReport:
    """Compute all tiles of a sweep that its cube does not have yet.

    Parameters
    ----------
    spec : Sweep, SweepSpec, str or path
        The sweep, a preset's name or a TOML file. A spec alone has all that is needed if its data
        are synthetic, or in the cube already.
    cube : path or URL
        Where the cube is; it is made if it is not there. All workers must see it there.
    client : distributed.Client, optional
        Whose workers to use; it stays open.
    workers : int, optional
        Start so many on this machine, as many as it has cores unless given. 0 computes in this
        process, without Dask.
    scheduler : str, optional
        Address of a Dask scheduler whose workers to use.
    workplace : callable, optional
        Gives a client in a ``with`` statement, such as `job_client` with its settings.
    on_event : callable, optional
        Called with `Started` and then with `TileEnded` for each tile.

    Returns
    -------
    SweepReport
        How many tiles are done, and which failed.

    Raises
    ------
    SpecError, CubeMismatchError, CubeError
        If the spec is wrong, is not that of the cube, or the cube cannot be written.
    WorkersError
        If there are no workers, or they have other versions or cannot write the cube.
    SchedulerLostError
        If the scheduler went away.
    CancelledSweepError
        If it was cancelled by ``imwk cancel``.

    Notes
    -----
    Interrupt or kill it at any moment and submit again: tiles that are done are never computed
    again. Workers are new processes that import the main module: in a script, call this under
    ``if __name__ == "__main__":``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[1.5, 2])
    >>> with TemporaryDirectory() as folder:
    ...     first = submit(spec, f"{folder}/cube.zarr", workers=0)
    ...     again = submit(spec, f"{folder}/cube.zarr", workers=0)
    >>> first.done, again.done_before
    (2, 2)
    """
    if sum(choice is not None for choice in (client, workers, scheduler, workplace)) > 1:
        raise InvalidInputError(
            "Give one of client, workers, scheduler and workplace, not several."
        )
    sweep = as_sweep(spec)
    wanted = sweep.spec
    location = absolute(cube)  # workers may run in other folders
    started = monotonic()
    create_cube(location, wanted, sweep.tables)
    mark = cancel_mark(location)  # before the wait for workers, which can be long
    before = read_ledger(location).counts
    if before.missing:
        with workplace() if workplace else _workplace(client, workers, scheduler) as place:
            if place:
                check_workers(place, location)
            run_sweep(wanted, location, place, mark, on_event or _ignore)
    after = read_ledger(location)
    return SweepReport(
        tiles=after.counts.total,
        done_before=before.done,
        done=after.counts.done,
        failed=after.failed,
        seconds=monotonic() - started,
    )


def as_sweep(spec: Sweep | SweepSpec | str | PathLike[str]) -> Sweep:
    """Read what has to be read: a spec in a file, and the data that it names."""
    if isinstance(spec, Sweep):
        return spec
    return Sweep(spec, {}) if isinstance(spec, SweepSpec) else load_sweep(spec)


def _ignore(_: Event) -> None:
    pass


def _workplace(
    client: Client | None, workers: int | None, scheduler: str | None
) -> AbstractContextManager[Client | None]:
    if client is not None or workers == 0:
        return nullcontext(client)
    return local_client(workers) if scheduler is None else remote_client(scheduler)


def run_sweep(
    spec: SweepSpec,
    location: str,
    client: Client | None,
    mark: str,
    on_event: Callable[[Event], None] = _ignore,
) -> None:
    """Compute what a cube lacks, on the workers of a client or in this process.

    It stops when the cancel mark of the cube is not `mark` any more.
    """
    ledger = read_ledger(location)
    counts = ledger.counts
    dashboard = client.dashboard_link if client else None
    workers = len(client.nthreads()) if client else 0
    on_event(Started(counts.total, counts.done, counts.failed, workers, dashboard))
    jobs = split_blocks({work.tile: work.blocks for work in ledger.todo}, default_block_size(spec))
    store = CubeStore(location, uuid4().hex, mark)
    run = run_on_dask(client, spec, jobs, store) if client else run_serially(spec, jobs, store)
    with closing(run) as outcomes:
        for outcome in outcomes:
            if store.is_cancelled():
                raise CancelledSweepError(
                    "The sweep was cancelled. Tiles that are done are safe: submit again to go on."
                )
            if outcome.error is not None:
                mark_failed(location, outcome.tile, outcome.error)
            on_event(TileEnded(outcome.tile, outcome.error))


@dataclass(frozen=True)
class CubeStore:
    """A cube as workers write it; they also sign for the software and processors they have.

    Attributes
    ----------
    location : str
        Of the cube.
    run : str
        Names this run.
    mark : str
        The cancel mark of the cube when the run began.
    """

    location: str
    run: str
    mark: str = ""

    def is_wanted(self, tile: Tile) -> bool:
        """Say whether the cube lacks a tile, and nobody cancelled the run."""
        return not self.is_cancelled() and not is_done(self.location, tile)

    def is_cancelled(self) -> bool:
        """Say whether the run was cancelled."""
        return cancel_mark(self.location) != self.mark

    def write(self, tile: Tile, results: Sequence[BlockResult]) -> None:
        """Write a tile."""
        _sign(self.location, self.run)
        write_tile(self.location, tile, results)

    def table(self, config: str) -> Table:
        """Read the data of a configuration, once in each process."""
        return stored_table(self.location, config)


@cache
def _sign(location: str, run: str) -> None:
    """Record the run once in each process, under one name for each host."""
    host = socket.gethostname()
    mark = uuid5(NAMESPACE_OID, f"{run} {host}").hex
    record_run(location, [host], mark)
