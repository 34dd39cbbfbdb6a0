"""Submit a sweep: create or resume its cube, compute what is missing, and report the outcome."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import asdict, dataclass
from os import PathLike
from time import monotonic
from typing import Any
from uuid import uuid4

from distributed import Client

from pipeline.core.errors import InvalidInputError
from pipeline.execution.dask import run_on_dask
from pipeline.execution.plan import default_block_size
from pipeline.execution.serial import run_serially
from pipeline.execution.tile_tasks import split_blocks
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.plugins import require_plugins
from pipeline.spec.sweep import Sweep
from storage import CubeLocation, Ledger, read_ledger
from storage.backends.location import absolute
from storage.control import cancel_mark
from storage.create import create_or_open
from storage.handle import CubeHandle
from storage.tiles import mark_failed
from workflows.compute import Workplace, local_client, remote_client
from workflows.compute.probe import check_workers
from workflows.cube_store import CubeStore
from workflows.errors import CancelledSweepError
from workflows.spec_files import load_sweep


@dataclass(frozen=True)
class Started:
    """Workers are ready, and the sweep starts.

    Attributes
    ----------
    tiles, done, failed : int
        Tiles of the whole sweep; those that are neither done nor failed are computed now.
    workers : int
        The number of workers at this moment; 0 if this process computes.
    dashboard : str or None
        The address of Dask's dashboard.
    """

    tiles: int
    done: int
    failed: int
    workers: int
    dashboard: str | None


@dataclass(frozen=True)
class TileEnded:
    """A tile is in the cube, or it failed with an `error`."""

    tile: Tile
    error: str | None


Event = Started | TileEnded


@dataclass(frozen=True)
class SweepReport:
    """The outcome of a sweep.

    Attributes
    ----------
    tiles : int
        All tiles of the sweep.
    done_before, done : int
        The tiles that were done at the start, and at the end.
    failed : mapping of Tile to str
        The errors of tiles that failed, in this session or before.
    seconds : float
        The time from start to end.
    """

    tiles: int
    done_before: int
    done: int
    failed: Mapping[Tile, str]
    seconds: float

    def facts(self) -> dict[str, Any]:
        """Return the report as a dict for JSON."""
        errors = [{**asdict(tile), "error": error} for tile, error in self.failed.items()]
        return {
            "tiles": self.tiles,
            "done_before": self.done_before,
            "done": self.done,
            "failed": errors,
            "seconds": self.seconds,
        }

    def __str__(self) -> str:
        words = f"{self.done} of {self.tiles} tiles done, {self.done_before} of them earlier"
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
    """Compute all tiles of a sweep that are missing in its cube.

    Parameters
    ----------
    spec : Sweep, SweepSpec, str or path
        The sweep, a preset's name or a TOML file. A `SweepSpec` is enough if its data are synthetic
        or already in the cube.
    cube : path or URL
        The cube, which is created if it does not exist. All workers must be able to write it there.
    client : distributed.Client, optional
        Use the workers of this client, which stays open.
    workers : int, optional
        Start this number of workers on this machine; by default one for each core. 0 computes in
        this process, without Dask.
    scheduler : str, optional
        Use the workers of the Dask scheduler at this address.
    workplace : callable, optional
        A function without arguments that returns a context manager for a client, such as
        ``functools.partial(job_client, settings)``.
    on_event : callable, optional
        Called with `Started`, and then with `TileEnded` for each tile.

    Returns
    -------
    SweepReport
        How many tiles are done, and which failed.

    Raises
    ------
    SpecError, CubeMismatchError, CubeError
        If the spec is wrong or is not that of the cube, or the cube cannot be written.
    WorkersError
        If there are no workers, or they have other versions, lack a plug-in or cannot write the
        cube.
    PluginError
        If this process lacks a plug-in of the sweep.
    SchedulerLostError
        If the connection to the scheduler is lost.
    CancelledSweepError
        If the sweep was cancelled with `storage.cancel_sweeps` or ``imwk cancel``.

    Notes
    -----
    The sweep can be interrupted or killed at any moment and submitted again: tiles that are done
    are never computed again. Workers are new processes that import the main module: in a script,
    call this function under ``if __name__ == "__main__":``.

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
        raise InvalidInputError("Give only one of client, workers, scheduler and workplace.")
    sweep = as_sweep(spec)
    location = absolute(cube)  # workers may run in other folders
    started = monotonic()
    handle = create_or_open(location, sweep.spec, sweep.tables)
    mark = cancel_mark(location)  # read before the wait for workers, which can be long
    before = after = read_ledger(handle)
    if before.todo:
        require_plugins(handle.spec.plugins, handle.spec.clusterers)
        with workplace() if workplace else _workplace(client, workers, scheduler) as chosen:
            if chosen:
                check_workers(chosen, handle)
            run_sweep(handle, before, chosen, mark, on_event or _ignore)
        after = read_ledger(handle.current())  # other sessions may have written or extended it
    return SweepReport(
        tiles=after.counts.total,
        done_before=before.counts.done,
        done=after.counts.done,
        failed=after.failed,
        seconds=monotonic() - started,
    )


def as_sweep(spec: Sweep | SweepSpec | str | PathLike[str]) -> Sweep:
    """Return a sweep; read its spec and its data if a file or a preset is given."""
    if isinstance(spec, Sweep):
        return spec
    if isinstance(spec, SweepSpec):
        return Sweep(spec, {})
    if isinstance(spec, str | PathLike):
        return load_sweep(spec)
    raise InvalidInputError(
        "spec must be a Sweep, a SweepSpec, the name of a preset or the path of a TOML file, got "
        f"{type(spec).__name__}. Make a sweep of your own data with Sweep.of."
    )


def _ignore(_: Event) -> None:
    pass


def _workplace(
    client: Client | None, workers: int | None, scheduler: str | None
) -> AbstractContextManager[Client | None]:
    if client is not None or workers == 0:
        return nullcontext(client)
    return local_client(workers) if scheduler is None else remote_client(scheduler)


def run_sweep(
    handle: CubeHandle,
    ledger: Ledger,
    client: Client | None,
    mark: str,
    on_event: Callable[[Event], None] = _ignore,
) -> None:
    """Compute the missing tiles of a cube, on the workers of a client or in this process.

    The sweep stops when the cancel mark of the cube is no longer `mark`. Tiles that another session
    finishes in the meantime are not computed again.
    """
    spec, counts = handle.spec, ledger.counts
    dashboard = client.dashboard_link if client else None
    workers = len(client.nthreads()) if client else 0
    on_event(Started(counts.total, counts.done, counts.failed, workers, dashboard))
    lacking = {work.tile: work.blocks for work in ledger.todo}
    blocks_by_tile = split_blocks(lacking, default_block_size(spec))
    store = CubeStore(str(handle.location), uuid4().hex, mark)
    outcomes = (
        run_on_dask(client, spec, blocks_by_tile, store)
        if client
        else run_serially(spec, blocks_by_tile, store)
    )
    with closing(outcomes):
        for outcome in outcomes:
            if store.is_cancelled():
                raise CancelledSweepError(
                    "The sweep was cancelled. Tiles that are done are in the cube. Submit the "
                    "sweep again to continue."
                )
            if outcome.error is not None:
                mark_failed(handle, outcome.tile, outcome.error)
            on_event(TileEnded(outcome.tile, outcome.error))
