"""Environment variables and Dask settings of all workers, wherever they run."""

LOOPBACK = "127.0.0.1"

#: A worker is a process with one thread, so its linear algebra must use one thread too. glibc must
#: not return large arrays to the system at once, because the next NumPy call requests them again.
WORKER_ENVIRONMENT = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "MALLOC_MMAP_THRESHOLD_": str(2**30),
    "MALLOC_TRIM_THRESHOLD_": str(2**30),
    "MALLOC_TOP_PAD_": str(2**26),
}

#: By default Dask checks its own processes up to a hundred times a second, which takes a tenth of
#: the time of a worker. Blocks run for seconds, so rare checks are enough.
QUIET = {
    "distributed.worker.profile.enabled": False,
    "distributed.worker.memory.monitor-interval": "1s",
    "distributed.admin.tick.interval": "2s",  # Dask logs ticks that are three seconds late
    "distributed.admin.tick.cycle": "10s",
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.system-monitor.disk": False,
}

#: The same for a scheduler and a client that belong to one sweep. Every result has one user, so
#: that there are no copies to look for.
QUIET_SCHEDULER = {
    "distributed.client.scheduler-info-interval": "1m",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.scheduler.dashboard.bokeh-application.keep_alive_milliseconds": 30_000,
    "distributed.scheduler.dashboard.bokeh-application.check_unused_sessions_milliseconds": 10_000,
}

#: Seconds between two messages of a worker that it is alive. Dask's own choice is 0.5.
HEARTBEAT = 5.0


def worker_variables() -> dict[str, str]:
    """Return all settings as environment variables, for workers that are started elsewhere.

    Examples
    --------
    >>> worker_variables()["DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED"]
    'False'
    """
    quiet = {
        f"DASK_{name.upper().replace('.', '__').replace('-', '_')}": str(value)
        for name, value in QUIET.items()
    }
    return WORKER_ENVIRONMENT | quiet
