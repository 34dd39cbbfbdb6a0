"""Specs to run as they are or to start from, each a TOML file here."""

from importlib.resources import files
from os import PathLike
from pathlib import Path

from pipeline.core.validation import as_choice
from pipeline.errors import SpecError
from pipeline.spec import SweepSpec
from pipeline.specfile import parse_spec, read_spec

#: The smallest first.
PRESETS = ("quick", "paper")


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
    """Load a preset by name, or a spec from a TOML file.

    Parameters
    ----------
    preset_or_path : str or path
        One of `PRESETS`, or a file.

    Returns
    -------
    SweepSpec
        Checked.

    Raises
    ------
    SpecError
        If there is no such preset or file, or something is wrong in it.

    Examples
    --------
    >>> len(load_spec("paper").tiles)
    2400
    >>> load_spec("papper")
    Traceback (most recent call last):
    pipeline.errors.SpecError: papper: is neither a file nor a preset; presets are quick, paper.
    """
    name = str(preset_or_path)
    if name in PRESETS:
        return parse_spec(preset_text(name), name)
    if not Path(name).suffix and not Path(name).exists():
        presets = ", ".join(PRESETS)
        raise SpecError([f"is neither a file nor a preset; presets are {presets}."], name)
    return read_spec(name)
