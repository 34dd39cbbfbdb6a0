"""Options of the commands that compute: where the workers run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workflows.cli.old_names import notice, old_option
from workflows.cli.options import json_option, with_all, workers_option

if TYPE_CHECKING:
    from pipeline.spec.toml import SpecFile
    from workflows.compute import Workplace
    from workflows.compute.job_settings import JobSettings

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

_file = click.Path(exists=True, dir_okay=False)
_batch_system = click.Choice(["slurm", "pbs", "lsf", "sge", "htcondor"])
#: The end of help texts.
_FROM_DASK = "The default is that of Dask's configuration"
_FROM_BATCH = "The default is that of [batch], else of Dask's configuration"

_OPTIONS = (
    workers_option,
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Use the workers of this Dask scheduler, such as tls://node1:8786.",
    ),
    click.option(
        "--tls-ca",
        type=_file,
        help=f"The PEM certificate of the scheduler's authority. {_FROM_DASK}.",
    ),
    click.option(
        "--tls-cert", type=_file, help=f"Your PEM certificate for the scheduler. {_FROM_DASK}."
    ),
    click.option("--tls-key", type=_file, help=f"The PEM key of your certificate. {_FROM_DASK}."),
    click.option(
        "--insecure",
        is_flag=True,
        help="Allow connections without TLS. Anyone who can reach them can run code as you.",
    ),
    # --cluster is the name of --batch in version 0.1, and is accepted for one more release. It was
    # renamed because a cluster is a group of entities in this project.
    old_option("--cluster", "--batch", type=_batch_system),
    click.option(
        "--batch",
        type=_batch_system,
        help="Submit workers as jobs to this batch system. The default is the kind in [batch] of "
        "SPEC. If there is none, workers run on this machine.",
    ),
    click.option(
        "--jobs",
        type=click.IntRange(min=1),
        help="Keep this many jobs in the queue. The default is that of [batch], else 1.",
    ),
    click.option(
        "--cores",
        type=click.IntRange(min=1),
        help=f"The cores of each job. A job starts one worker per core. {_FROM_BATCH}, else 1.",
    ),
    click.option(
        "--memory",
        help=f"The memory of each job, such as 64GB. {_FROM_BATCH}, else 2GB for each core.",
    ),
    click.option(
        "--walltime",
        help=f"The wall time of each job as HH:MM:SS. Jobs that end are replaced. {_FROM_BATCH}.",
    ),
    click.option("--queue", help=f"The queue or partition of the jobs. {_FROM_BATCH}."),
    click.option("--account", help=f"The account to charge for the jobs. {_FROM_BATCH}."),
    click.option(
        "--interface",
        help="The network interface through which workers reach this machine, such as ib0. "
        f"{_FROM_BATCH}.",
    ),
    click.option(
        "--log-directory",
        metavar="DIR",
        help="The folder for the output of jobs. By default the batch system chooses it.",
    ),
    click.option(
        "--wait",
        type=click.FloatRange(min=0, min_open=True),
        metavar="MINUTES",
        help="Give up if no worker has started after this many minutes. By default 10 with "
        "--scheduler, 60 with --batch.",
    ),
    click.option("--dry-run", is_flag=True, help="Print the job script, and do nothing else."),
    click.option(
        "--detach", is_flag=True, help="Leave the sweep to the scheduler, and return at once."
    ),
    json_option,
)

_OF_JOBS = (
    "jobs",
    "cores",
    "memory",
    "walltime",
    "queue",
    "account",
    "interface",
    "log_directory",
)
_OF_TLS = ("tls_ca", "tls_cert", "tls_key")


def compute_options(command: AnyFunction) -> AnyFunction:
    """Add the options that choose where the workers run."""
    return with_all(_OPTIONS)(command)


@dataclass(frozen=True)
class ComputeOptions:
    """The options, and the table ``[batch]`` of the spec file, whose settings they replace."""

    workers: int | None
    scheduler: str | None
    tls_ca: str | None
    tls_cert: str | None
    tls_key: str | None
    insecure: bool
    batch: str | None
    jobs: int | None
    cores: int | None
    memory: str | None
    walltime: str | None
    queue: str | None
    account: str | None
    interface: str | None
    log_directory: str | None
    wait: float | None
    dry_run: bool
    detach: bool
    as_json: bool
    table: Mapping[str, Any]
    source: str

    def __post_init__(self) -> None:
        if len(self._given(("workers", "scheduler", "batch"))) > 1:
            raise click.UsageError("Give only one of --workers, --scheduler and --batch.")
        self._refuse((*_OF_JOBS, "dry_run"), "--batch", self.is_for_jobs)
        self._refuse((*_OF_TLS, "detach"), "--scheduler", self.scheduler is not None)
        self._refuse(("insecure", "wait"), "--scheduler or --batch", not self.is_local)
        if 0 < len(self._given(_OF_TLS)) < len(_OF_TLS):
            raise click.UsageError("Give --tls-ca, --tls-cert and --tls-key together.")

    def _given(self, names: tuple[str, ...]) -> list[str]:
        return [name for name in names if getattr(self, name) not in (None, False)]

    def _refuse(self, names: tuple[str, ...], needed: str, is_there: bool) -> None:
        for name in self._given(names):
            if not is_there:
                raise click.UsageError(f"--{name.replace('_', '-')} needs {needed}.")

    @property
    def is_for_jobs(self) -> bool:
        """Whether workers are jobs of a batch system, by an option or by the spec file."""
        elsewhere = self.workers is not None or self.scheduler is not None
        return self.batch is not None or ("kind" in self.table and not elsewhere)

    @property
    def is_local(self) -> bool:
        """Whether workers are processes of this machine."""
        return self.scheduler is None and not self.is_for_jobs

    def job_settings(self) -> "JobSettings":
        """Return what each job requests."""
        from workflows.compute.job_settings import settings_from

        options = {name: getattr(self, name) for name in (*_OF_JOBS, "wait")}
        return settings_from(self.table, {"kind": self.batch, **options}, self.source)

    def workplace(self) -> "Workplace":
        """Return the function that starts the workers or connects to them."""
        from workflows.compute import Certificates, job_client, local_client, remote_client

        if self.is_for_jobs:
            return partial(job_client, self.job_settings(), insecure=self.insecure)
        if self.scheduler is None:
            return partial(local_client, self.workers)
        wait = {} if self.wait is None else {"wait": self.wait}
        files = [getattr(self, name) for name in _OF_TLS]
        certificates = Certificates(*files) if self.tls_ca else None
        return partial(remote_client, self.scheduler, certificates, insecure=self.insecure, **wait)

    def warning(self) -> str | None:
        """Return what --insecure allows here, or None if all connections are safe."""
        from workflows.compute.remote import as_address, danger

        if self.insecure and self.scheduler is not None:
            return danger(as_address(self.scheduler))
        if self.insecure:
            return (
                "Connections between jobs and this program are not encrypted. Anyone who can reach "
                "its port can run any code as you."
            )
        return None


def options_of(
    given: Mapping[str, Any], file: "SpecFile | None" = None, source: str | None = None
) -> ComputeOptions:
    """Join the options of a command with the table ``[batch]`` of the spec file `source`."""
    if file is None or not file.batch:
        return ComputeOptions(**given, table={}, source="options")
    label = f"{source}: [{file.batch_name}]"
    if file.batch_name != "batch":
        notice(f"the table [{file.batch_name}] in {source}", "[batch]")
    return ComputeOptions(**given, table=file.batch, source=label)
