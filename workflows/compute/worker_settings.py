"""What all workers are told, wherever they run."""

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


def worker_variables() -> dict[str, str]:
    """Return all of it as environment variables, for workers that are started elsewhere.

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
