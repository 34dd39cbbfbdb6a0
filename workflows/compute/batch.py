"""Workers that are jobs of a batch system, by dask-jobqueue."""

import logging
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

import dask
from distributed import Client, Security, Status

from workflows.compute.job_settings import JobSettings, lifetime_seconds
from workflows.compute.worker_settings import LOOPBACK, worker_variables
from workflows.errors import WorkersError

#: The cluster class of each batch system, and the command that shows a user's jobs.
SYSTEMS = {
    "slurm": ("SLURMCluster", "squeue --me"),
    "pbs": ("PBSCluster", "qstat"),
    "lsf": ("LSFCluster", "bjobs -w"),
    "sge": ("SGECluster", "qstat"),
    "htcondor": ("HTCondorCluster", "condor_q"),
}
#: What stands in a job script for files that are made when the sweep begins.
NOT_YET = "MADE-WHEN-SUBMITTED"


@contextmanager
def job_client(settings: JobSettings, *, insecure: bool = False) -> Iterator[Client]:
    """Keep a number of jobs in the queue, each with workers; cancel them at the end.

    Parameters
    ----------
    settings : JobSettings
        Which batch system, how many jobs, and what each asks for.
    insecure : bool
        Let workers and this process talk without TLS: who reaches its port can run any code.

    Yields
    ------
    distributed.Client
        With a worker at least.

    Raises
    ------
    WorkersError
        If there is no such batch system here, it refuses jobs, or none has started after
        `settings.wait` minutes; then with the state of the queue and the script.

    Notes
    -----
    The scheduler runs in this process. Jobs end a while before their wall time, as the batch
    system would end them amid a block; ended or lost ones are submitted again. Connections are
    encrypted, with certificates for this one time that lie in a folder which jobs can read.
    """
    cluster_class = _cluster_class(settings.kind)
    command = cluster_class.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise WorkersError(
            f"{command} is not on this machine. Run imwk where you submit jobs to {settings.kind}."
        )
    _make_log_directory(settings)
    refusals: list[str] = []
    with ExitStack() as stack:
        with _start_errors(settings.kind):
            security = None
            if not insecure:
                security = stack.enter_context(_certificates(settings.kind))
            cluster = stack.enter_context(
                cluster_class(
                    job_cls=_reporting(cluster_class.job_cls, refusals),
                    security=security,
                    scheduler_options=_scheduler_options(settings.kind),
                    silence_logs=logging.CRITICAL,
                    **_job_options(settings),
                )
            )
        client = stack.enter_context(Client(cluster))
        # unlike scale, this also replaces jobs that are lost
        cluster.adapt(minimum_jobs=settings.jobs, maximum_jobs=settings.jobs)
        _wait(client, settings, refusals, cluster.job_script())
        yield client


@contextmanager
def _start_errors(kind: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkersError(
            f"A scheduler for jobs of {kind} does not start here: {error.__cause__ or error}. "
            "Check --interface, and the folder for certificates, which is your home or "
            "jobqueue.*.shared-temp-directory in Dask's configuration."
        ) from error


def job_script(settings: JobSettings, *, insecure: bool = False) -> str:
    """Return the script that would be submitted for each job.

    Parameters
    ----------
    settings, insecure
        As for `job_client`.

    Returns
    -------
    str
        With a place holder for what is only known when the sweep begins.

    Examples
    --------
    >>> script = job_script(JobSettings(kind="slurm", cores=4, walltime="02:00:00"))
    >>> "#SBATCH --cpus-per-task=4" in script, "--lifetime 6555s" in script
    (True, True)
    """
    _make_log_directory(settings)
    files = dict.fromkeys(("tls_ca_file", "tls_worker_cert", "tls_worker_key"), NOT_YET)
    protocol = "tcp" if insecure else "tls"
    job = _cluster_class(settings.kind).job_cls(
        f"{protocol}://{NOT_YET}",
        name=NOT_YET,
        protocol=f"{protocol}://",
        security=None if insecure else Security(require_encryption=True, **files),
        **_job_options(settings),
    )
    return str(job.job_script())


def _cluster_class(kind: str) -> Any:
    try:
        import dask_jobqueue
    except ModuleNotFoundError as error:
        raise WorkersError(
            "Jobs of a batch system need dask-jobqueue: pip install 'imwk-sweep[hpc]'."
        ) from error
    return getattr(dask_jobqueue, SYSTEMS[kind][0])


def _make_log_directory(settings: JobSettings) -> None:
    """Make it before dask-jobqueue does, which has no words for what goes wrong."""
    wanted = settings.given_to_jobqueue().get("log_directory")
    if wanted is not None:
        try:
            Path(wanted).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkersError(
                f"Jobs cannot write to {wanted}: {error.strerror}. Give another --log-directory."
            ) from error


def _reporting(job_class: Any, refusals: list[str]) -> Any:
    """Return a class of jobs that write down why they are refused: Dask only logs it."""

    class Job(job_class):  # type: ignore[misc]
        async def _submit_job(self, script_filename: str) -> Any:
            try:
                return await super()._submit_job(script_filename)
            except RuntimeError as error:
                refusals.append(str(error).partition("stderr:")[2].strip() or str(error))
                self.status = Status.failed  # or the cluster could not be closed
                raise

    return Job


@contextmanager
def _certificates(kind: str) -> Iterator[Security]:
    """Make a certificate for this one time, in a folder that jobs can read and no other user."""
    try:
        made = Security.temporary()
    except ImportError as error:
        raise WorkersError(
            "Encrypted connections need cryptography: pip install 'imwk-sweep[hpc]'."
        ) from error
    shared = dask.config.get(f"jobqueue.{kind}.shared-temp-directory", None) or Path.home()
    with TemporaryDirectory(prefix=".imwk-sweep-", dir=Path(shared).expanduser()) as folder:
        cert, key = Path(folder) / "cert.pem", Path(folder) / "key.pem"
        cert.write_text(made.tls_ca_file)
        key.write_text(made.tls_worker_key)
        files = {
            f"tls_{role}_{name}": str(file)
            for role in ("client", "scheduler", "worker")
            for name, file in (("cert", cert), ("key", key))
        }
        yield Security(require_encryption=True, tls_ca_file=str(cert), **files)


def _scheduler_options(kind: str) -> dict[str, Any]:
    configured = dask.config.get(f"jobqueue.{kind}.scheduler-options", None) or {}
    # the dashboard has no password, and listens to everyone unless told otherwise
    return {"dashboard_address": f"{LOOPBACK}:0", **configured}


def _job_options(settings: JobSettings) -> dict[str, Any]:
    """Return what dask-jobqueue wants to know of each job."""
    configured = f"jobqueue.{settings.kind}"
    exports = [f"export {name}={value}" for name, value in worker_variables().items()]
    return {
        **settings.given_to_jobqueue(),
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
    """Let workers end one after the other, or nobody would be left to hand results to.

    Dask's stagger goes both ways: earlier and later.
    """
    if longest is None:
        return []
    stagger = longest // 20
    return ["--lifetime", f"{longest - stagger}s", "--lifetime-stagger", f"{stagger}s"]


def _wait(client: Client, settings: JobSettings, refusals: list[str], script: str) -> None:
    deadline = monotonic() + 60 * settings.wait
    while not client.scheduler_info()["workers"]:
        if refusals:
            raise WorkersError(
                f"{settings.kind} refuses the job: {refusals[0]}\nThe script was:\n{script}"
            )
        if monotonic() > deadline:
            raise WorkersError(
                f"No worker came in {settings.wait:g} minutes. Wait longer with --wait MINUTES, "
                f"ask for less, or see why jobs do not start.\n{_queue(settings.kind)}\n"
                f"The script is:\n{script}"
            )
        sleep(0.2)


def _queue(kind: str) -> str:
    command = SYSTEMS[kind][1]
    try:
        shown = subprocess.run(
            command.split(), capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{command} does not answer: {error}"
    return f"{command} says:\n{(shown.stdout + shown.stderr).strip()}"
