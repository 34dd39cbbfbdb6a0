"""Specs that can be run directly or copied and changed. Each is a TOML file in this folder."""

from importlib.resources import files

from pipeline.core.validation import as_choice

#: The names of the presets, the smallest first.
PRESETS = ("quick", "uci", "paper")


def preset_text(name: str) -> str:
    """Return the TOML text of a preset, with its comments.

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
