"""Load a preset or a spec file by its name."""

from os import PathLike
from pathlib import Path

from pipeline.errors import SpecError
from pipeline.spec.sweep import Sweep
from pipeline.spec.toml import SpecFile, parse_spec_file, read_spec_file
from workflows.presets import PRESETS, preset_text


def load_sweep(preset_or_path: str | PathLike[str]) -> Sweep:
    """Return the sweep of a preset or spec file, as `load_spec_file` does.

    Examples
    --------
    >>> len(load_sweep("paper").spec.tiles)
    2400
    """
    return load_spec_file(preset_or_path).sweep


def load_spec_file(preset_or_path: str | PathLike[str]) -> SpecFile:
    """Load a preset by name, or a spec file by path, and the data that it names.

    Parameters
    ----------
    preset_or_path : str or path
        One of `PRESETS`, or the path of a TOML file.

    Returns
    -------
    SpecFile
        The sweep and the table ``[batch]``.

    Raises
    ------
    SpecError
        If there is no such preset or file, or the file is not a valid spec.

    Examples
    --------
    >>> load_spec_file("papper")
    Traceback (most recent call last):
    pipeline.errors.SpecError: papper: is neither a file nor a preset. The presets are quick, \
uci, paper.
    """
    name = str(preset_or_path)
    if name in PRESETS:
        return parse_spec_file(preset_text(name), name)
    if not Path(name).suffix and not Path(name).exists():
        presets = ", ".join(PRESETS)
        raise SpecError([f"is neither a file nor a preset. The presets are {presets}."], name)
    return read_spec_file(name)
