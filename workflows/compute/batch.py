"""Workers that are jobs of a batch system, submitted by dask-jobqueue."""

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

from workflows.compute.job_settings import JobSettings
from workflows.compute.jobqueue import SYSTEMS, job_options, jobqueue_class, make_log_directory
from workflows.compute.worker_settings import LOOPBACK
from workflows.errors import WorkersError


@contextmanager
def job_client(settings: JobSettings, *, insecure: bool = False) -> Iterator[Client]:
    """Keep a number of jobs in the queue, each with workers; cancel them at the end.

    Parameters
    ----------
    settings : JobSettings
        The batch system, the number of jobs, and what each job requests.
    insecure : bool
        Whether workers and this process communicate without TLS. Then anyone who can reach the
        port of this process can run any code.

    Yields
    ------
    distributed.Client
        A client with at least one worker.

    Raises
    ------
    WorkersError
        If this machine does not have the batch system, the batch system refuses the job, or no
        job has started after `settings.wait` minutes. In the last case the message contains the
        state of the queue and the job script.

    Notes
    -----
    The scheduler runs in this process. Workers end some time before the wall time of their job,
    because the batch system would kill them in the middle of a block. Jobs that ended or were lost
    are submitted again. Connections are encrypted with certificates that are made for this session,
    in a folder that jobs can read.
    """
    queue_class = jobqueue_class(settings.kind)
    _check_command(queue_class, settings.kind)
    make_log_directory(settings)
    refusals: list[str] = []
    with ExitStack() as stack:
        with _start_errors(settings.kind):
            security = None
            if not insecure:
                security = stack.enter_context(_certificates(settings.kind))
            queue = stack.enter_context(
                queue_class(
                    job_cls=_reporting(queue_class.job_cls, refusals),
                    security=security,
                    scheduler_options=_scheduler_options(settings.kind),
                    silence_logs=logging.CRITICAL,
                    **job_options(settings),
                )
            )
        client = stack.enter_context(Client(queue))
        # Unlike scale, adapt also replaces jobs that are lost.
        queue.adapt(minimum_jobs=settings.jobs, maximum_jobs=settings.jobs)
        _wait(client, settings, refusals, queue.job_script())
        yield client


def _check_command(queue_class: Any, kind: str) -> None:
    command = queue_class.job_cls.submit_command.split()[0]
    if shutil.which(command) is None:
        raise WorkersError(
            f"This machine does not have the command {command}. Run imwk on a machine from which "
            f"you can submit jobs to {kind}."
        )


@contextmanager
def _start_errors(kind: str) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError, ValueError) as error:
        raise WorkersError(
            f"The scheduler for jobs of {kind} does not start on this machine: "
            f"{error.__cause__ or error}. Check the network interface, and the folder for "
            "certificates, which is your home folder or jobqueue.*.shared-temp-directory in Dask's "
            "configuration.",
            "interface",
        ) from error


def _reporting(job_class: Any, refusals: list[str]) -> Any:
    """Return a job class that records why jobs are refused, which Dask only logs."""

    class Job(job_class):  # type: ignore[misc]
        async def _submit_job(self, script_filename: str) -> Any:
            try:
                return await super()._submit_job(script_filename)
            except RuntimeError as error:
                refusals.append(str(error).partition("stderr:")[2].strip() or str(error))
                self.status = Status.failed  # otherwise the scheduler could not be closed
                raise

    return Job


@contextmanager
def _certificates(kind: str) -> Iterator[Security]:
    """Make a certificate for this session, in a folder that only this user and jobs can read."""
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
    # The dashboard has no password, and by default it accepts connections from everyone.
    return {"dashboard_address": f"{LOOPBACK}:0", **configured}


def _wait(client: Client, settings: JobSettings, refusals: list[str], script: str) -> None:
    deadline = monotonic() + 60 * settings.wait
    while not client.scheduler_info()["workers"]:
        if refusals:
            raise WorkersError(
                f"{settings.kind} refuses the job: {refusals[0]}\nThe job script is:\n{script}"
            )
        if monotonic() > deadline:
            raise WorkersError(
                f"No worker started within {settings.wait:g} minutes. Wait longer, request less "
                "for each job, or check in the queue why jobs do not start.\n"
                f"{_queue(settings.kind)}\nThe job script is:\n{script}",
                "wait",
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
