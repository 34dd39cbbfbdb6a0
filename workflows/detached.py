"""Detached sweeps: the scheduler manages the sweep, and the submitting process can end.

A thread in the scheduler's process does what `submit` does otherwise: it sends blocks to workers,
marks tiles that fail, and tries tiles whose workers died again, one at a time. It ends with the
scheduler. Tiles that are done are in the cube, and the sweep can be submitted again.
"""

import logging
from asyncio import wrap_future
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from os import PathLike
from threading import Thread

from distributed import Client, Scheduler, Security

from pipeline.core.errors import ImwkError
from pipeline.spec import SweepSpec
from pipeline.spec.plugins import require_plugins
from pipeline.spec.sweep import Sweep
from storage import CubeLocation, read_ledger
from storage.backends.location import absolute
from storage.control import cancel_mark
from storage.create import create_or_open
from storage.handle import open_handle
from workflows.compute import WorkersError, Workplace
from workflows.compute.probe import check_scheduler, check_workers
from workflows.sweep import as_sweep, run_sweep

logger = logging.getLogger(__name__)


def submit_detached(
    spec: Sweep | SweepSpec | str | PathLike[str], cube: CubeLocation, workplace: Workplace
) -> int:
    """Start a sweep on a scheduler that manages it, and return at once.

    Parameters
    ----------
    spec : Sweep, SweepSpec, str or path
        As for `submit`.
    cube : path or URL
        The cube, which is created if it does not exist. The scheduler and all workers must be able
        to write it there.
    workplace : callable
        Returns a context manager of a client of the scheduler, such as `remote_client` with its
        address.

    Returns
    -------
    int
        The number of tiles that are missing; `storage.read_ledger` shows the progress.

    Raises
    ------
    WorkersError
        If the scheduler or its workers cannot take part.

    Examples
    --------
    >>> from functools import partial
    >>> from tempfile import TemporaryDirectory
    >>> from time import sleep
    >>> from workflows.compute import local_client, remote_client
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[1.5, 2])
    >>> with TemporaryDirectory() as folder, local_client(workers=1) as local:
    ...     there = partial(remote_client, local.scheduler.address)
    ...     submit_detached(spec, f"{folder}/cube.zarr", there)
    ...     while read_ledger(f"{folder}/cube.zarr").counts.done < 2:
    ...         sleep(0.1)
    2
    """
    sweep = as_sweep(spec)
    location = absolute(cube)
    handle = create_or_open(location, sweep.spec, sweep.tables)
    mark = cancel_mark(location)
    missing = read_ledger(handle).counts.missing
    if missing:
        require_plugins(handle.spec.plugins, handle.spec.clusterers)
        with workplace() as client:
            check_workers(client, handle)
            check_scheduler(client, handle)
            with _begin_errors():
                client.run_on_scheduler(_begin, location, mark)
    return missing


@contextmanager
def _begin_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkersError(
            f"The scheduler cannot connect to itself as a client, to manage the sweep: {error}. "
            "Submit the sweep with workflows.submit, or on the command line without --detach."
        ) from error


async def _begin(location: str, mark: str, dask_scheduler: Scheduler) -> None:
    """Start the thread in the scheduler's process, and wait until it has a client.

    Dask passes the scheduler, because of the argument's name.
    """
    connected: Future[None] = Future()
    Thread(target=_manage, args=(location, mark, dask_scheduler, connected), daemon=True).start()
    await wrap_future(connected)


def _manage(location: str, mark: str, scheduler: Scheduler, connected: Future[None]) -> None:
    try:
        client = Client(
            scheduler.address, security=_as_client(scheduler.security), set_as_default=False
        )
    except Exception as error:
        connected.set_exception(error)
        return
    connected.set_result(None)
    with client:
        try:
            handle = open_handle(location)
            run_sweep(handle, read_ledger(handle), client, mark)
        except ImwkError as error:
            logger.warning("%s", error)


def _as_client(security: Security) -> Security:
    """Return the security of a client that uses the certificate of the scheduler."""
    files = security.get_tls_config_for_role("scheduler")
    return Security(
        require_encryption=security.require_encryption,
        tls_ca_file=files["ca_file"],
        tls_client_cert=files["cert"],
        tls_client_key=files["key"],
    )
