"""Specs in TOML files, and what is wrong with them."""

import tomllib
from os import PathLike
from pathlib import Path
from typing import Any

from pipeline.errors import SpecError
from pipeline.spec.draft import DraftSpec, Sweep
from pipeline.spec.model import SweepSpec


def parse_sweep(text: str, source: str, folder: Path | None = None) -> Sweep:
    """Make a spec of TOML, and read the data that it names.

    Parameters
    ----------
    text : str
        The TOML.
    source : str
        Where it came from, such as the file's name, for messages.
    folder : Path, optional
        Where relative paths of data begin; this process's folder unless given.

    Returns
    -------
    Sweep
        The spec, checked, and its data.

    Raises
    ------
    SpecError
        With source, key, value and what is allowed, of everything that is wrong.

    Examples
    --------
    >>> parse_sweep('restart = 5', "sweep.toml")
    Traceback (most recent call last):
    pipeline.errors.SpecError: sweep.toml: datasets: is missing; it has no default.
    sweep.toml: restart = 5: unknown key. Did you mean restarts? Allowed here: seed, \
normalisations, restarts, centre, dtype, parts, datasets, scores, p1, p2.
    """
    try:
        tables, _ = parse_tables(text)
    except (ValueError, RecursionError) as error:  # tomllib's own errors are ValueErrors
        raise SpecError([f"is no TOML: {error}."], source) from error
    try:
        return DraftSpec.model_validate(tables).ready(folder or Path())
    except SpecError as error:
        raise SpecError(error.problems, source) from None


def parse_tables(text: str) -> tuple[dict[str, Any], dict[str, Any]]:
    r"""Return what a file says of the sweep, and its table ``cluster``: where it may run.

    The latter decides no result, and so is no part of a spec.

    Examples
    --------
    >>> parse_tables('seed = 1\n[cluster]\nkind = "slurm"')
    ({'seed': 1}, {'kind': 'slurm'})
    """
    tables = tomllib.loads(text)
    return tables, tables.pop("cluster", {})


def read_sweep(path: str | PathLike[str]) -> Sweep:
    """Read a spec from a TOML file, and the data that it names.

    Parameters
    ----------
    path : path
        Of the file; relative paths in it begin at its folder.

    Returns
    -------
    Sweep
        The spec, checked, and its data.

    Raises
    ------
    SpecError
        If the file cannot be read, is no TOML or no spec; everything wrong is listed.

    Examples
    --------
    >>> read_sweep("no-such.toml")
    Traceback (most recent call last):
    pipeline.errors.SpecError: no-such.toml: cannot be read: No such file or directory.
    """
    source = str(path)
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SpecError([f"cannot be read: {error.strerror}."], source) from error
    except ValueError as error:  # no UTF-8, or a name with a null character
        raise SpecError([f"cannot be read: {error}."], source) from error
    return parse_sweep(text, source, Path(path).parent)


def parse_spec(text: str, source: str) -> SweepSpec:
    """Make a spec of TOML, as `parse_sweep` does."""
    return parse_sweep(text, source).spec


def read_spec(path: str | PathLike[str]) -> SweepSpec:
    """Read a spec from a TOML file, as `read_sweep` does."""
    return read_sweep(path).spec
