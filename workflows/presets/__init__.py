"""Specs to run as they are or to start from, each a TOML file here."""

from importlib.resources import files
from os import PathLike
from pathlib import Path

from pipeline.core.validation import as_choice
from pipeline.errors import SpecError
from pipeline.spec import SweepSpec
from pipeline.spec.sweep import Sweep
from pipeline.spec.toml import parse_sweep, read_sweep

#: The smallest first.
PRESETS = ("quick", "uci", "paper")


def preset_text(name: str) -> str:
    """Return a preset as TOML, comments included.

    Parameters
    ----------
    name : str
        One of `PRESETS`.

    Examples
    --------
    >>> print(preset_text("paper").splitlines()[1])
    seed = 2020
    """
    file = f"{as_choice(name, 'preset', PRESETS)}.toml"
    return files(__name__).joinpath(file).read_text(encoding="utf-8")


def load_spec(preset_or_path: str | PathLike[str]) -> SweepSpec:
    """Load a spec, as `load_sweep` does, without its data."""
    return load_sweep(preset_or_path).spec


def load_sweep(preset_or_path: str | PathLike[str]) -> Sweep:
    """Load a preset by name, or a spec from a TOML file, and the data that it names.

    Parameters
    ----------
    preset_or_path : str or path
        One of `PRESETS`, or a file.

    Returns
    -------
    Sweep
        The spec, checked, and its data.

    Raises
    ------
    SpecError
        If there is no such preset or file, or something is wrong in it.

    Examples
    --------
    >>> len(load_sweep("paper").spec.tiles)
    2400
    >>> load_sweep("papper")
    Traceback (most recent call last):
    pipeline.errors.SpecError: papper: is neither a file nor a preset; presets are quick, uci, \
paper.
    """
    name = str(preset_or_path)
    if name in PRESETS:
        return parse_sweep(preset_text(name), name)
    if not Path(name).suffix and not Path(name).exists():
        presets = ", ".join(PRESETS)
        raise SpecError([f"is neither a file nor a preset; presets are {presets}."], name)
    return read_sweep(name)
