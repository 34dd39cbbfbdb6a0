"""What each job of a batch system requests: arguments, a spec file, or Dask's configuration."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import dask
from dask.utils import parse_bytes
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from pipeline.errors import SpecError
from pipeline.spec.problems import problems_of

#: dask-jobqueue's name for the account to charge. HTCondor has none.
_ACCOUNT = {"slurm": "account", "pbs": "account", "lsf": "project", "sge": "project"}
#: Settings that HTCondor does not have; dask-jobqueue fails on them.
_NOT_OF_HTCONDOR = ("queue", "account", "walltime")
#: A worker ends this many seconds before the wall time of its job, but at most a quarter of it.
_MARGIN = 300

_WALLTIME = re.compile(r"(?:(\d+)-)?(\d+):(\d+)(?::(\d+))?")


def _checked_walltime(text: Any) -> Any:
    if isinstance(text, str) and not _WALLTIME.fullmatch(text):
        raise ValueError("give a time as HH:MM:SS.")
    return text


def _checked_memory(text: Any) -> Any:
    if isinstance(text, str):
        try:
            parse_bytes(text)
        except ValueError:
            raise ValueError("give a number with a unit, such as 4GB.") from None
    return text


def _lines(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        raise ValueError('give a list of lines, such as ["module load python"].')
    return tuple(given)


class JobSettings(BaseModel):
    """The batch system, the number of jobs, and what each job requests.

    Parameters
    ----------
    kind : str
        The batch system: ``slurm``, ``pbs``, ``lsf``, ``sge`` or ``htcondor``.
    jobs : int
        The number of jobs to keep in the queue.
    cores, memory : int, str
        The cores and memory of each job, which starts a worker for each core. By default those of
        Dask's configuration, otherwise 1 core and 2 GB for each core.
    walltime, queue, account, interface : str, optional
        As the batch system calls them; the wall time as ``HH:MM:SS``. By default those of Dask's
        configuration.
    directives, prologue : tuple of str
        Additional lines of the job script: directives for the batch system, and commands that run
        before the worker starts.
    log_directory : str, optional
        The folder for the output of jobs, which is made if it is missing. By default the batch
        system chooses it: SLURM writes a file for each job into the working folder.
    wait : float
        The number of minutes to wait for the first job to start.

    Examples
    --------
    >>> JobSettings(kind="slurm", jobs=10, cores=32).for_jobqueue()["memory"]
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

    def for_jobqueue(self) -> dict[str, Any]:
        """Return the settings under dask-jobqueue's names, without those that it shall choose."""
        cores = self.cores or dask.config.get(f"jobqueue.{self.kind}.cores", None) or 1
        memory = self.memory or dask.config.get(f"jobqueue.{self.kind}.memory", None)
        wanted = {
            "cores": cores,
            "processes": cores,
            "memory": memory or f"{2 * cores}GB",
            "walltime": self._walltime(),
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

    def _walltime(self) -> str | None:
        if self.kind == "lsf" and self.walltime is not None and self.walltime.count(":") == 2:
            return self.walltime.rpartition(":")[0]
        return self.walltime


def settings_from(table: Mapping[str, Any], given: Mapping[str, Any], source: str) -> JobSettings:
    """Return the settings of a table, replaced by those that are given.

    Parameters
    ----------
    table : mapping
        The table ``[batch]`` of a spec file.
    given : mapping
        Settings that take precedence. None and empty ones are ignored.
    source : str
        Where the table came from, for error messages.

    Raises
    ------
    SpecError
        If a setting is unknown or has a wrong value.

    Examples
    --------
    >>> settings_from({"kind": "slurm", "jobs": 4}, {"jobs": 8}, "sweep.toml: [batch]").jobs
    8
    >>> settings_from({"kind": "slurm", "corse": 4}, {}, "sweep.toml: [batch]")
    Traceback (most recent call last):
    pipeline.errors.SpecError: sweep.toml: [batch]: corse = 4: unknown key. Did you mean cores? \
Allowed here: kind, jobs, cores, memory, walltime, queue, account, interface, directives, \
prologue, log_directory, wait.
    """
    replaced = {name: value for name, value in given.items() if value not in (None, ())}
    try:
        settings = JobSettings.model_validate({**table, **replaced})
    except ValidationError as error:
        raise SpecError(problems_of(error, _KEYS), source) from None
    unknown = [name for name in _NOT_OF_HTCONDOR if getattr(settings, name) is not None]
    if settings.kind == "htcondor" and unknown:
        raise SpecError([f"HTCondor does not have {', '.join(unknown)}. Use directives."], source)
    return settings


_KEYS: Mapping[tuple[str | int, ...], Iterable[str]] = {(): JobSettings.model_fields}


def lifetime_seconds(settings: JobSettings) -> int | None:
    """Return the number of seconds after which a worker ends, or None without a wall time.

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
    if found[4] is None and settings.kind != "lsf":  # 30:00 is half an hour, except on LSF
        hours, minutes, seconds = 0, hours, minutes
    total = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    return total - min(_MARGIN, total // 4)
