"""Workers on this machine."""

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

from pipeline.core.validation import as_whole_number
from workflows.compute.worker_settings import LOOPBACK, QUIET, WORKER_ENVIRONMENT
from workflows.errors import WorkersError

#: Seconds without any worker after which nobody waits for one any more.
GIVE_UP_AFTER = 600.0


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

    Raises
    ------
    WorkersError
        If workers do not start.

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
        with _ctrl_c_waits(), _start_errors():
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
def _start_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # how Dask says that a worker ended at once
        raise WorkersError(
            "Workers on this machine do not start. A script must call submit under "
            'if __name__ == "__main__": since they import it; else look at what they print, and '
            "at what Dask's configuration makes them load."
        ) from error


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
    this a sweep could come to wait for ever, for workers that nobody starts. If none comes up at
    all any more the cluster is closed, and who waits for its results hears that it is lost.
    """
    over = Event()
    patience = parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout"))

    def replace() -> None:
        complete = seen = monotonic()
        while not over.wait(1):
            alive = len(cluster.scheduler_info["workers"])
            if alive:
                seen = monotonic()
            if alive >= count:
                complete = monotonic()
            elif monotonic() - seen > GIVE_UP_AFTER:
                cluster.close()
                return
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
