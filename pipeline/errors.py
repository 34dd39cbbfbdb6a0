"""The errors of this layer. `pipeline.core.errors` has their base class."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pipeline.core.errors import ImwkError

#: The keys and indices that lead to a value in a spec.
Location = tuple[str | int, ...]


@dataclass(frozen=True)
class Problem:
    """One problem of a spec: the dotted key, what to do, and the value that was given."""

    key: str
    remedy: str
    value: str | None = None

    def __str__(self) -> str:
        given = self.key if self.value is None else f"{self.key} = {self.value}"
        return f"{given}: {self.remedy}"


class SpecError(ImwkError, ValueError):
    """A spec is invalid. `problems` lists all that is wrong, `source` is the file.

    Examples
    --------
    >>> print(SpecError([Problem("restarts", "give at least 0.", "-1")], "sweep.toml"))
    sweep.toml: restarts = -1: give at least 0.
    """

    def __init__(self, problems: Iterable[Problem | str], source: str = "spec") -> None:
        self.problems = tuple(problems)
        self.source = source
        super().__init__("\n".join(f"{source}: {problem}" for problem in self.problems))

    def __reduce__(self) -> tuple[type["SpecError"], tuple[tuple[Problem | str, ...], str]]:
        # By default exceptions are rebuilt from their message, not from these arguments.
        return SpecError, (self.problems, self.source)


class BadEntryError(ValueError):
    """One entry of a table or list is invalid; raised where pydantic knows only the table's key."""

    def __init__(self, entry: Location, value: object, remedy: str) -> None:
        super().__init__(remedy)
        self.entry, self.value = entry, value


class TableError(ImwkError, ValueError):
    """A table cannot be used. The message has the file or name, the place, and what to do.

    Examples
    --------
    >>> print(TableError("my.csv", "has 4 fields, the header 5.", "line 7"))
    my.csv, line 7: has 4 fields, the header 5.
    """

    def __init__(self, source: str, problem: str, where: str = "") -> None:
        self.source, self.problem, self.where = source, problem, where
        super().__init__(f"{source}{where and f', {where}'}: {problem}")

    def __reduce__(self) -> tuple[type["TableError"], tuple[str, str, str]]:
        # By default exceptions are rebuilt from their message, not from these arguments.
        return TableError, (self.source, self.problem, self.where)


class MissingDataError(ImwkError, FileNotFoundError):
    """Real data sets are not on this machine."""


class OutputError(ImwkError, OSError):
    """A file cannot be written. The message has the file, the reason and what to do."""


class SchedulerLostError(ImwkError):
    """The connection to the scheduler was lost, with all results that were not in the cube yet."""


class MissingExtraError(ImwkError, ImportError):
    """A feature needs an optional package; the message names the extra that installs it."""


class PluginError(ImwkError):
    """A plug-in is missing, cannot be loaded, failed, or returned something unusable."""


@contextmanager
def requires_extra(extra: str, need: str, otherwise: str = "") -> Iterator[None]:
    """Raise `MissingExtraError` if an import inside fails.

    Parameters
    ----------
    extra : str
        The extra of imwk-sweep that installs the package.
    need : str
        What needs which package.
    otherwise : str
        What to do without the package, if anything.

    Examples
    --------
    >>> with requires_extra("plots", "Drawing needs Matplotlib"):
    ...     raise ModuleNotFoundError("No module named 'matplotlib'")
    Traceback (most recent call last):
    pipeline.errors.MissingExtraError: Drawing needs Matplotlib: pip install 'imwk-sweep[plots]'
    """
    try:
        yield
    except ImportError as error:
        remedy = f"pip install 'imwk-sweep[{extra}]'"
        raise MissingExtraError(
            f"{need}: {remedy}. {otherwise}" if otherwise else f"{need}: {remedy}"
        ) from error
