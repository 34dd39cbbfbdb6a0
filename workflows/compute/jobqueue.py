"""The arguments of dask-jobqueue: its classes, the options of a job, and the job script."""

from pathlib import Path
from typing import Any

import dask
from distributed import Security

from workflows.compute.job_settings import JobSettings, lifetime_seconds
from workflows.compute.worker_settings import worker_variables
from workflows.errors import WorkersError

#: dask-jobqueue's class for each batch system, and the command that shows a user's jobs.
SYSTEMS = {
    "slurm": ("SLURMCluster", "squeue --me"),
    "pbs": ("PBSCluster", "qstat"),
    "lsf": ("LSFCluster", "bjobs -w"),
    "sge": ("SGECluster", "qstat"),
    "htcondor": ("HTCondorCluster", "condor_q"),
}
#: The placeholder in a job script for files and addresses that a sweep makes when it starts.
NOT_YET = "MADE-WHEN-SUBMITTED"


def job_script(settings: JobSettings, *, insecure: bool = False) -> str:
    """Return the script that `job_client` submits for each job.

    Parameters
    ----------
    settings, insecure
        As for `job_client`.

    Returns
    -------
    str
        The script, with placeholders for what is known only when the sweep starts.

    Examples
    --------
    >>> script = job_script(JobSettings(kind="slurm", cores=4, walltime="02:00:00"))
    >>> "#SBATCH --cpus-per-task=4" in script, "--lifetime 6555s" in script
    (True, True)
    """
    make_log_directory(settings)
    files = dict.fromkeys(("tls_ca_file", "tls_worker_cert", "tls_worker_key"), NOT_YET)
    protocol = "tcp" if insecure else "tls"
    job = jobqueue_class(settings.kind).job_cls(
        f"{protocol}://{NOT_YET}",
        name=NOT_YET,
        protocol=f"{protocol}://",
        security=None if insecure else Security(require_encryption=True, **files),
        **job_options(settings),
    )
    return str(job.job_script())


def jobqueue_class(kind: str) -> Any:
    """Return dask-jobqueue's class for a batch system.

    Raises
    ------
    WorkersError
        If dask-jobqueue is not installed.
    """
    try:
        import dask_jobqueue
    except ModuleNotFoundError as error:
        raise WorkersError(
            "Jobs of a batch system need dask-jobqueue: pip install 'imwk-sweep[hpc]'."
        ) from error
    return getattr(dask_jobqueue, SYSTEMS[kind][0])


def make_log_directory(settings: JobSettings) -> None:
    """Make the folder for the output of jobs.

    dask-jobqueue would make it too, but its errors do not explain what is wrong.
    """
    wanted = settings.for_jobqueue().get("log_directory")
    if wanted is not None:
        try:
            Path(wanted).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkersError(
                f"Jobs cannot write to {wanted}: {error.strerror}. Give another folder for the "
                "output of jobs.",
                "log_directory",
            ) from error


def job_options(settings: JobSettings) -> dict[str, Any]:
    """Return the arguments that dask-jobqueue takes for each job."""
    configured = f"jobqueue.{settings.kind}"
    exports = [f"export {name}={value}" for name, value in worker_variables().items()]
    return {
        **settings.for_jobqueue(),
        "job_script_prologue": [
            *exports,
            *dask.config.get(f"{configured}.job-script-prologue", []),
            *settings.prologue,
        ],
        "worker_extra_args": [
            *dask.config.get(f"{configured}.worker-extra-args", []),
            *_lifetime_arguments(lifetime_seconds(settings)),
        ],
    }


def _lifetime_arguments(longest: int | None) -> list[str]:
    """Return the arguments that make workers end one after the other.

    If all workers ended at once, none would be left to take over their results. Dask staggers in
    both directions, earlier and later.
    """
    if longest is None:
        return []
    stagger = longest // 20
    return ["--lifetime", f"{longest - stagger}s", "--lifetime-stagger", f"{stagger}s"]
