"""Read specs from TOML, and report everything that is wrong in them."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from pipeline.errors import Problem, SpecError
from pipeline.spec.draft import DraftSpec
from pipeline.spec.model import SweepSpec
from pipeline.spec.problems import shown
from pipeline.spec.sweep import Sweep

#: The table of a spec file that describes a batch system, and its name in version 0.1.
BATCH, OLD_BATCH = "batch", "cluster"


@dataclass(frozen=True, eq=False)
class SpecFile:
    """Everything that a spec file contains.

    Attributes
    ----------
    sweep : Sweep
        The spec, checked, and its data.
    batch : mapping
        The table ``[batch]``, unchecked: on which batch system to run the sweep. Empty if the file
        has none. It does not affect results, so it is not part of the spec.
    batch_name : str
        The name of that table in the file: ``batch``, or ``cluster`` as in version 0.1.
    """

    sweep: Sweep
    batch: Mapping[str, Any]
    batch_name: str = BATCH


def parse_spec_file(text: str, source: str, folder: Path | None = None) -> SpecFile:
    r"""Parse a spec file, and read the data that it names.

    Parameters
    ----------
    text : str
        The TOML.
    source : str
        Where it came from, such as the file's name, for error messages.
    folder : Path, optional
        The folder that relative paths of data start from. The current folder by default.

    Returns
    -------
    SpecFile
        The sweep and the table ``[batch]``.

    Raises
    ------
    SpecError
        If anything is wrong. The message lists each problem with its source, key and value, and
        what is allowed.

    Examples
    --------
    >>> text = '[datasets.synthetic]\nconfigs = "all"\ncount = 1\n[batch]\nkind = "slurm"'
    >>> parse_spec_file(text, "sweep.toml").batch
    {'kind': 'slurm'}
    >>> parse_spec_file("restart = 5", "sweep.toml")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    pipeline.errors.SpecError: sweep.toml: datasets: is missing; it has no default.
    sweep.toml: restart = 5: unknown key. Did you mean restarts? Allowed here: seed, ...
    """
    try:
        keys, name, batch = _parse_tables(text)
        return SpecFile(DraftSpec.model_validate(keys).read_data(folder or Path()), batch, name)
    except SpecError as error:
        raise SpecError(error.problems, source) from None


def _parse_tables(text: str) -> tuple[dict[str, Any], str, Mapping[str, Any]]:
    r"""Return the keys of the spec, and the name and content of the table ``[batch]``.

    Raises
    ------
    SpecError
        If the text is not TOML, or ``[batch]`` is not a table or is given under both its names.

    Examples
    --------
    >>> _parse_tables('seed = 1\n[batch]\nkind = "slurm"')
    ({'seed': 1}, 'batch', {'kind': 'slurm'})
    """
    try:
        keys = tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # tomllib's own errors are ValueErrors
        raise SpecError([f"is not valid TOML: {error}."]) from error
    given = [name for name in (BATCH, OLD_BATCH) if name in keys]
    if len(given) > 1:
        raise SpecError(
            [f"[{OLD_BATCH}] is the old name of [{BATCH}]. Give one of them, not both."]
        )
    tables = [(name, keys.pop(name)) for name in given]
    for name, table in tables:
        if not isinstance(table, Mapping):
            raise SpecError([Problem(name, f"give a table [{name}].", shown(table))])
    name, batch = tables[0] if tables else (BATCH, {})
    return keys, name, batch


def read_spec_file(path: str | PathLike[str]) -> SpecFile:
    """Read a spec file and the data that it names.

    Parameters
    ----------
    path : path
        The TOML file. Relative paths in it start from its folder.

    Returns
    -------
    SpecFile
        The sweep and the table ``[batch]``.

    Raises
    ------
    SpecError
        If the file cannot be read, is not TOML or is not a valid spec. The message lists every
        problem.

    Examples
    --------
    >>> read_spec_file("no-such.toml")
    Traceback (most recent call last):
    pipeline.errors.SpecError: no-such.toml: cannot be read: No such file or directory.
    """
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError([f"cannot be read: {error.strerror}."], source) from error
    except ValueError as error:  # not UTF-8, or a null character in the file's name
        raise SpecError([f"cannot be read: {error}."], source) from error
    return parse_spec_file(text, source, Path(path).parent)


def read_sweep(path: str | PathLike[str]) -> Sweep:
    """Return the sweep of a spec file, as `read_spec_file` does.

    Examples
    --------
    >>> read_sweep("no-such.toml")
    Traceback (most recent call last):
    pipeline.errors.SpecError: no-such.toml: cannot be read: No such file or directory.
    """
    return read_spec_file(path).sweep


def read_spec(path: str | PathLike[str]) -> SweepSpec:
    """Return the spec of a spec file, without its data."""
    return read_sweep(path).spec
