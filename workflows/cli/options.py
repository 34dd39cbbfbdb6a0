"""Options of all commands that compute: where they do it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from workflows.compute import Workplace
    from workflows.compute.job_settings import JobSettings

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes of one thread on this machine; one for each core unless given.",
)
_file = click.Path(exists=True, dir_okay=False)

_OPTIONS = (
    workers_option,
    click.option(
        "--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler instead."
    ),
    click.option("--tls-ca", type=_file, help="Who signs for a tls:// scheduler; PEM."),
    click.option("--tls-cert", type=_file, help="Your certificate for it; PEM."),
    click.option("--tls-key", type=_file, help="The key of your certificate; PEM."),
    click.option(
        "--insecure",
        is_flag=True,
        help="Allow connections without TLS, by which others can run code as you.",
    ),
    click.option(
        "--cluster",
        type=click.Choice(["slurm", "pbs", "lsf", "sge", "htcondor"]),
        help="Submit workers as jobs to this batch system instead.",
    ),
    click.option("--jobs", type=click.IntRange(min=1), help="How many jobs to keep there."),
    click.option("--cores", type=click.IntRange(min=1), help="Of each job; a worker for each."),
    click.option("--memory", help="Of each job, such as 64GB."),
    click.option("--walltime", help="Of each job, as HH:MM:SS; lost and ended jobs are replaced."),
    click.option("--queue", help="Queue or partition."),
    click.option("--account", help="To be charged."),
    click.option("--interface", help="Network that workers reach this machine by, such as ib0."),
    click.option("--log-directory", metavar="DIR", help="Where jobs write what they print."),
    click.option(
        "--wait",
        type=click.FloatRange(min=0, min_open=True),
        metavar="MINUTES",
        help="Give up if there is no worker by then.",
    ),
    click.option("--dry-run", is_flag=True, help="Print the script of a job, and do nothing."),
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


def run_options(command: AnyFunction) -> AnyFunction:
    """Add the options of all commands that compute."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


@dataclass(frozen=True)
class RunOptions:
    """The options, as given; and the table ``cluster`` of the spec's file, which they precede."""

    workers: int | None
    scheduler: str | None
    tls_ca: str | None
    tls_cert: str | None
    tls_key: str | None
    insecure: bool
    cluster: str | None
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
        places = ("workers", "scheduler", "cluster")
        if len(self._given(places)) > 1:
            raise click.UsageError("Give --workers, --scheduler or --cluster, not both.")
        self._refuse(_OF_JOBS, "--cluster", self.is_for_jobs)
        self._refuse(("dry_run",), "--cluster", self.is_for_jobs)
        self._refuse((*_OF_TLS, "detach"), "--scheduler", self.scheduler is not None)
        self._refuse(("insecure", "wait"), "--scheduler or --cluster", not self.is_local)
        if 0 < len(self._given(_OF_TLS)) < len(_OF_TLS):
            raise click.UsageError("Give --tls-ca, --tls-cert and --tls-key together.")

    def _given(self, names: tuple[str, ...]) -> list[str]:
        return [name for name in names if getattr(self, name) not in (None, False)]

    def _refuse(self, names: tuple[str, ...], needed: str, is_there: bool) -> None:
        for name in self._given(names):
            if not is_there:
                raise click.UsageError(f"--{name.replace('_', '-')} goes with {needed}.")

    @property
    def is_for_jobs(self) -> bool:
        """Whether workers are jobs of a batch system; the spec's file may say so too."""
        elsewhere = self.workers is not None or self.scheduler is not None
        return self.cluster is not None or ("kind" in self.table and not elsewhere)

    @property
    def is_local(self) -> bool:
        """Whether workers are processes of this machine."""
        return self.scheduler is None and not self.is_for_jobs

    def job_settings(self) -> "JobSettings":
        """Return what jobs ask for."""
        from workflows.compute.job_settings import settings_from

        options = {name: getattr(self, name) for name in (*_OF_JOBS, "wait")}
        return settings_from(self.table, {"kind": self.cluster, **options}, self.source)

    def workplace(self) -> "Workplace":
        """Return what starts or reaches the workers."""
        from workflows.compute import Certificates, local_client, remote_client

        if self.is_for_jobs:
            from workflows.compute.batch import job_client

            return partial(job_client, self.job_settings(), insecure=self.insecure)
        if self.scheduler is None:
            return partial(local_client, self.workers)
        patience = {} if self.wait is None else {"patience": self.wait}
        files = [getattr(self, name) for name in _OF_TLS]
        certificates = Certificates(*files) if self.tls_ca else None
        return partial(
            remote_client, self.scheduler, certificates, insecure=self.insecure, **patience
        )

    def warning(self) -> str | None:
        """Say what --insecure means here, if it means something."""
        from workflows.compute.remote import as_address, danger

        if self.insecure and self.scheduler is not None:
            return danger(as_address(self.scheduler))
        if self.insecure:
            return (
                "Jobs and this program talk without encryption: who reaches its port can run any "
                "code as you."
            )
        return None


def options_of(given: Mapping[str, Any], spec: str | None = None) -> RunOptions:
    """Join the options of a command with the table ``cluster`` of a spec's file."""
    return RunOptions(**given, table=_cluster_table(spec), source=spec or "options")


def _cluster_table(spec: str | None) -> Mapping[str, Any]:
    from pipeline.errors import SpecError
    from pipeline.spec.toml import parse_tables
    from workflows.presets import PRESETS

    if spec is None or spec in PRESETS:
        return {}
    _, table = parse_tables(Path(spec).read_text(encoding="utf-8"))
    if not isinstance(table, Mapping):
        raise SpecError(["cluster: give a table."], spec)
    return table
