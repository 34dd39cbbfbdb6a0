"""What each job of a batch system asks for: by options, in a spec's file, or in Dask's own."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import dask
from dask.utils import parse_bytes
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.errors import SpecError
from pipeline.spec.problems import problems_of

#: The table of a spec's file with these settings. They change no result, and are no part of a spec.
TABLE = "cluster"
#: What the account to be charged is called; HTCondor knows no such thing.
_ACCOUNT = {"slurm": "account", "pbs": "account", "lsf": "project", "sge": "project"}
#: What HTCondor does not know, and dask-jobqueue would choke on.
_NOT_OF_HTCONDOR = ("queue", "account", "walltime")
#: A worker ends so many seconds before its job's wall time, or a quarter of it before.
_MARGIN = 300

_WALLTIME = re.compile(r"(?:(\d+)-)?(\d+):(\d+)(?::(\d+))?")


def _checked_walltime(text: Any) -> Any:
    if isinstance(text, str) and not _WALLTIME.fullmatch(text):
        raise ValueError("give it as HH:MM:SS.")
    return text


def _checked_memory(text: Any) -> Any:
    if isinstance(text, str):
        try:
            parse_bytes(text)
        except ValueError:
            raise ValueError("give it with a unit, as 4GB.") from None
    return text


def _lines(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        raise ValueError('give a list of lines, such as ["module load python"].')
    return tuple(given)


class JobSettings(BaseModel):
    """Which batch system, how many jobs, and what each asks for.

    Parameters
    ----------
    kind : str
        ``slurm``, ``pbs``, ``lsf``, ``sge`` or ``htcondor``.
    jobs : int
        How many to keep in the queue.
    cores, memory : int, str
        Of each job; a worker for each core. 1 and 2 GB a core unless Dask's configuration says
        otherwise.
    walltime, queue, account, interface : str, optional
        As the batch system names them; ``HH:MM:SS``. Else those of Dask's configuration.
    directives, prologue : tuple of str
        More lines for the script: for the batch system, and before the worker starts.
    log_directory : str, optional
        Where jobs write what they print; made if it is missing. Else where the batch system
        puts it: that of SLURM in the working folder, a file for each job.
    wait : float
        Minutes until it is an error that no job has started.

    Examples
    --------
    >>> JobSettings(kind="slurm", jobs=10, cores=32).given_to_jobqueue()["memory"]
    '64GB'
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    kind: Literal["slurm", "pbs", "lsf", "sge", "htcondor"]
    jobs: Annotated[int, Field(ge=1)] = 1
    cores: Annotated[int | None, Field(ge=1)] = None
    memory: Annotated[str | None, BeforeValidator(_checked_memory)] = None
    walltime: Annotated[str | None, BeforeValidator(_checked_walltime)] = None
    queue: str | None = None
    account: str | None = None
    interface: str | None = None
    directives: Annotated[tuple[str, ...], BeforeValidator(_lines)] = ()
    prologue: Annotated[tuple[str, ...], BeforeValidator(_lines)] = ()
    log_directory: str | None = None
    wait: Annotated[float, Field(gt=0)] = 60.0

    def given_to_jobqueue(self) -> dict[str, Any]:
        """Return the settings under dask-jobqueue's names, those that are left to it left out."""
        cores = self.cores or dask.config.get(f"jobqueue.{self.kind}.cores", None) or 1
        memory = self.memory or dask.config.get(f"jobqueue.{self.kind}.memory", None)
        wanted = {
            "cores": cores,
            "processes": cores,
            "memory": memory or f"{2 * cores}GB",
            "walltime": self._walltime_as_wanted(),
            "job_name": "imwk-sweep",
            "queue": self.queue,
            _ACCOUNT.get(self.kind, "account"): self.account,
            "interface": self.interface,
            "job_extra_directives": list(self.directives) or None,
            "log_directory": self.log_directory and str(Path(self.log_directory).expanduser()),
        }
        if self.kind == "htcondor":
            wanted["disk"] = dask.config.get("jobqueue.htcondor.disk", None) or "1GB"
        return {name: value for name, value in wanted.items() if value is not None}

    def _walltime_as_wanted(self) -> str | None:
        if self.kind == "lsf" and self.walltime is not None and self.walltime.count(":") == 2:
            return self.walltime.rpartition(":")[0]
        return self.walltime


def settings_from(table: Mapping[str, Any], options: Mapping[str, Any], source: str) -> JobSettings:
    """Join a table of a spec's file and options of the command, which come first.

    Examples
    --------
    >>> settings_from({"kind": "slurm", "jobs": 4}, {"jobs": 8}, "sweep.toml").jobs
    8
    >>> settings_from({"kind": "slurm", "corse": 4}, {}, "sweep.toml")
    Traceback (most recent call last):
    pipeline.errors.SpecError: sweep.toml: [cluster]: corse = 4: unknown key. Did you mean cores? \
Allowed here: kind, jobs, cores, memory, walltime, queue, account, interface, directives, \
prologue, log_directory, wait.
    """
    given = {name: value for name, value in options.items() if value not in (None, ())}
    try:
        settings = JobSettings.model_validate({**table, **given})
    except ValidationError as error:
        raise SpecError(problems_of(error, _KEYS), f"{source}: [{TABLE}]") from None
    unknown = [name for name in _NOT_OF_HTCONDOR if getattr(settings, name) is not None]
    if settings.kind == "htcondor" and unknown:
        raise SpecError([f"HTCondor knows no {', '.join(unknown)}. Use directives."], source)
    return settings


_KEYS: Mapping[tuple[str | int, ...], Iterable[str]] = {(): JobSettings.model_fields}


def lifetime_seconds(settings: JobSettings) -> int | None:
    """Return after how many seconds a worker ends itself; None if its job has no wall time.

    Examples
    --------
    >>> lifetime_seconds(JobSettings(kind="slurm", walltime="1-00:00:00"))
    86100
    """
    if settings.kind == "htcondor":
        return None
    text = settings.walltime or dask.config.get(f"jobqueue.{settings.kind}.walltime", None)
    found = _WALLTIME.fullmatch(str(text))
    if found is None:
        return None
    days, hours, minutes, seconds = (int(part or 0) for part in found.groups())
    if found[4] is None and settings.kind != "lsf":  # 30:00 is half an hour but on LSF
        hours, minutes, seconds = 0, hours, minutes
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return total - min(_MARGIN, total // 4)
