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
    "distributed.admin.tick.interval": "1s",
    "distributed.admin.system-monitor.interval": "2s",
}


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
