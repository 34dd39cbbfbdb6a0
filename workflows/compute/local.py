"""Workers on this machine."""

import logging
import signal
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from multiprocessing.resource_tracker import ensure_running
from threading import Event, Thread, current_thread, main_thread
from time import monotonic
from typing import Any

import dask
from dask.system import CPU_COUNT
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster, Scheduler

from pipeline.core.validation import as_whole_number
from workflows.compute.worker_settings import (
    HEARTBEAT,
    LOOPBACK,
    QUIET,
    QUIET_SCHEDULER,
    WORKER_ENVIRONMENT,
)
from workflows.errors import WorkersError

#: The number of seconds without any worker after which the sweep gives up.
GIVE_UP_AFTER = 600.0
#: Seconds between two updates of what the scheduler knows about the pool, which is only its name.
SYNC_INTERVAL = 60.0


@contextmanager
def local_client(workers: int | None = None) -> Iterator[Client]:
    """Start workers on this machine; stop them at the end.

    Parameters
    ----------
    workers : int, optional
        The number of processes, each with one thread. By default the number of cores.

    Yields
    ------
    distributed.Client
        A client of the workers. Other machines cannot reach them or their scheduler.

    Raises
    ------
    WorkersError
        If the workers do not start.

    Examples
    --------
    >>> with local_client(workers=1) as client:
    ...     client.submit(sum, [1, 2]).result()
    3
    """
    count = CPU_COUNT if workers is None else as_whole_number(workers, "workers", 1)
    settings = {"distributed.nanny.pre-spawn-environ": WORKER_ENVIRONMENT} | QUIET | QUIET_SCHEDULER
    with dask.config.set(settings), ExitStack() as stack:
        with _ctrl_c_waits(), _start_errors():
            pool = stack.enter_context(
                LocalCluster(
                    n_workers=count,
                    threads_per_worker=1,
                    processes=True,
                    host=LOOPBACK,
                    dashboard_address=f"{LOOPBACK}:0",
                    memory_limit=1 / count,
                    scheduler_sync_interval=SYNC_INTERVAL,
                    silence_logs=logging.CRITICAL,
                )
            )
            _quieten(pool.scheduler)
            client = stack.enter_context(Client(pool))
        with _replaced_if_lost(pool, count):
            yield client


def _quieten(scheduler: Scheduler) -> None:
    """Make rare what takes half of the time of idle processes, and what Dask has no settings for.

    The answer to a worker's heartbeat names the interval that the worker keeps from then on. The
    scheduler compares its state with timeouts, which are off by default, four times a second.
    """
    answer = scheduler.handlers["heartbeat_worker"]

    def answer_quietly(**message: Any) -> dict[str, Any]:
        return {**answer(**message), "heartbeat-interval": HEARTBEAT}

    scheduler.handlers["heartbeat_worker"] = answer_quietly
    for timeout in ("idle-timeout", "no-workers-timeout"):
        scheduler.periodic_callbacks[timeout].callback_time = 1000 * HEARTBEAT


@contextmanager
def _start_errors() -> Iterator[None]:
    try:
        yield
    except RuntimeError as error:  # raised by Dask if a worker ends at once
        raise WorkersError(
            "Workers on this machine do not start. Workers import the main module, so a script "
            'must call submit under if __name__ == "__main__":. If it does, read the errors that '
            "the workers print, and check Dask's setting distributed.worker.preload."
        ) from error


@contextmanager
def _ctrl_c_waits() -> Iterator[None]:
    """Delay Ctrl-C until the workers have started, because a partial start cannot be stopped.

    A terminal also sends the signal to the workers, which must ignore it. They do, because they
    inherit a blocked signal from the thread that is made here to start them.
    """
    if current_thread() is not main_thread():  # Python handles signals in the main thread only
        yield
        return
    ensure_running()  # it unblocks the signal, so the start of the first worker must not call it
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
def _replaced_if_lost(pool: LocalCluster, count: int) -> Iterator[None]:
    """Keep the number of workers constant.

    Dask restarts a worker that died, but gives up on a worker that dies while it starts. Without
    this function a sweep could wait forever for workers that are never started. If no worker starts
    at all, the scheduler is closed, so that everything that waits for results raises an error.
    """
    over = Event()
    patience = parse_timedelta(dask.config.get("distributed.deploy.lost-worker-timeout"))

    def replace() -> None:
        complete = seen = monotonic()
        while not over.wait(1):
            alive = len(pool.scheduler_info["workers"])
            if alive:
                seen = monotonic()
            if alive >= count:
                complete = monotonic()
            elif monotonic() - seen > GIVE_UP_AFTER:
                pool.close()
                return
            elif monotonic() - complete > patience:
                pool.scale(alive)  # forgets the workers that do not start
                over.wait(1)  # otherwise the new workers would have the same names, and not start
                pool.scale(count)
                complete = monotonic()

    replacer = Thread(target=replace, daemon=True)
    replacer.start()
    try:
        yield
    finally:
        over.set()
        replacer.join()
