"""Where a sweep runs: on workers of this machine, or on those of a scheduler that is there."""

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.resource_tracker import ensure_running
from threading import Event, Thread, current_thread, main_thread
from time import monotonic

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster
from distributed.utils import silence_logging_cmgr

from pipeline.core.errors import ImwkError
from pipeline.core.validation import as_whole_number

LOOPBACK = "127.0.0.1"

#: A worker is a process of one thread, and so is its linear algebra. glibc must not hand large
#: arrays back to the system at once: they are asked for again by the next NumPy call.
WORKER_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_TOP_PAD_": str(2**26),
}

#: Dask looks at its own processes up to a hundred times a second, which takes a tenth of the time
#: of blocks that run for seconds. A look once in a while will do.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
}


class SchedulerError(ImwkError):
    """A scheduler cannot be reached; the message says which."""


@contextmanager
def local_client(workers: int | None = None) -> Iterator[Client]:
    """Start workers on this machine; stop them at the end.

    Parameters
    ----------
    workers : int, optional
        Processes of one thread; as many as there are cores unless given.

    Yields
    ------
    distributed.Client
        Nothing of its cluster can be reached from other machines.

    Examples
    --------
    >>> with local_client(workers=1) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    count = CPU_COUNT if workers is None else as_whole_number(workers, "workers", 1)
    with (
        dask.config.set({"distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT, **QUIET}),
        ExitStack() as stack,
    ):
        with _ctrl_c_waits():
            cluster = stack.enter_context(
                LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host=LOOPBACK,
                    dashboard_address=f"{LOOPBACK}:0",
                    memory_limit=1 / count,
                    silence_logs=logging.CRITICAL,
                )
            )
            client = stack.enter_context(Client(cluster))
        with _replaced_if_lost(cluster, count):
            yield client


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Put off a Ctrl-C until a cluster has started: one that is half there cannot be stopped.

    A terminal sends the signal to workers too. They must not answer it, and do not, since they
    inherit that it is blocked from the thread that is made here to start them.
    """
    if current_thread() is not main_thread():  # where Python lets nobody ask for signals
        yield
        return
    ensure_running()  # which would unblock the signal, were it called by the first worker's start
    pressed = Event()
    handler = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        signal.signal(signal.SIGINT, handler)
    if pressed.is_set():
        raise KeyboardInterrupt


@contextmanager
def _replaced_if_lost(cluster: LocalCluster, count: int) -> Iterator[None]:
    """Keep a cluster at its number of workers.

    Dask starts a worker that died again, but gives up on one that dies while it starts: without
    this a sweep could come to wait for ever, for workers that nobody starts.
    """
    over = Event()
    patience = parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout"))

    def replace() -> None:
        complete = monotonic()
        while not over.wait(1):
            alive = len(cluster.scheduler_info["workers"])
            if alive >= count:
                complete = monotonic()
            elif monotonic() - complete > patience:
                cluster.scale(alive)  # forgets those that do not come up
                over.wait(1)  # or the new ones would get their names, and not be started
                cluster.scale(count)
                complete = monotonic()

    replacer = Thread(target=replace, daemon=True)
    replacer.start()
    try:
        yield
    finally:
        over.set()
        replacer.join()


@contextmanager
def remote_client(scheduler: str) -> Iterator[Client]:
    """Connect to a scheduler that is running already, and leave it running.

    Parameters
    ----------
    scheduler : str
        Its address, such as ``tcp://node1:8786``.

    Yields
    ------
    distributed.Client

    Raises
    ------
    SchedulerError
        If there is none.

    Examples
    --------
    >>> with local_client(workers=1) as local, remote_client(local.scheduler.address) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    try:
        client = Client(scheduler)
    except (OSError, ValueError) as error:  # no answer; no address
        raise SchedulerError(
            f"There is no Dask scheduler at {scheduler}. Start one with dask scheduler, and give "
            "the address that it prints, such as tcp://node1:8786."
        ) from error
    # A lost scheduler is said once, by who waits for results.
    with silence_logging_cmgr(logging.CRITICAL), client:
        yield client
