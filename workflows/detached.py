"""A sweep that is left to its scheduler: who submitted it may go.

In the scheduler's process a thread does what `submit` does elsewhere: it hands out blocks, marks
tiles that fail, and tries those alone whose workers died. It ends when the scheduler does; the
cube is then as far as it was, and can be submitted again.
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
from pipeline.spec.sweep import Sweep
from storage import CubeLocation, cancel_mark, create_cube, read_ledger
from storage.backends.location import absolute
from workflows.compute import WorkersError, Workplace
from workflows.compute.probe import check_scheduler, check_workers
from workflows.sweep import as_sweep, run_sweep

logger = logging.getLogger(__name__)


def submit_detached(
    spec: Sweep | SweepSpec | str | PathLike[str], cube: CubeLocation, workplace: Workplace
) -> int:
    """Leave a sweep to a scheduler, and return at once.

    Parameters
    ----------
    spec : Sweep, SweepSpec, str or path
        As for `submit`.
    cube : path or URL
        Where the cube is; it is made if it is not there. Scheduler and workers must see it there.
    workplace : callable
        Gives a client of the scheduler, as `remote_client` does with its address.

    Returns
    -------
    int
        How many tiles are to be computed; `read_ledger` says how far that is.

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
    create_cube(location, sweep.spec, sweep.tables)
    mark = cancel_mark(location)
    missing = read_ledger(location).counts.missing
    if missing:
        with workplace() as client:
            check_workers(client, location)
            check_scheduler(client, location)
            with _begin_errors():
                client.run_on_scheduler(_begin, sweep.spec, location, mark)
    return missing


@contextmanager
def _begin_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkersError(
            f"The scheduler cannot be a client of its own, to look after the sweep: {error}. "
            "Submit without --detach."
        ) from error


async def _begin(spec: SweepSpec, location: str, mark: str, dask_scheduler: Scheduler) -> None:
    """Start the thread in the scheduler's process, and wait until it has a client.

    Dask hands over the scheduler, by the name of the argument.
    """
    connected: Future[None] = Future()
    Thread(
        target=_look_after, args=(spec, location, mark, dask_scheduler, connected), daemon=True
    ).start()
    await wrap_future(connected)


def _look_after(
    spec: SweepSpec, location: str, mark: str, scheduler: Scheduler, connected: Future[None]
) -> None:
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
            run_sweep(spec, location, client, mark)
        except ImwkError as error:
            logger.warning("%s", error)


def _as_client(security: Security) -> Security:
    """Return what lets the scheduler's process also be a client, by the same certificate."""
    files = security.get_tls_config_for_role("scheduler")
    return Security(
        require_encryption=security.require_encryption,
        tls_ca_file=files["ca_file"],
        tls_client_cert=files["cert"],
        tls_client_key=files["key"],
    )
