"""Attributes that tell other programs what a cube contains, in the manner of the CF conventions."""

from importlib.metadata import version
from typing import Any

from storage.layout.schema import Status, Variable

_COORDINATES: dict[str, dict[str, Any]] = {
    "config": {"long_name": "Configuration"},
    "dataset": {"long_name": "Number of the data set in its configuration", "units": "1"},
    "normalisation": {"long_name": "Normalisation of the data"},
    "p1": {"long_name": "Minkowski exponent of the run that rescales", "units": "1"},
    "p2": {"long_name": "Minkowski exponent of the run on rescaled data", "units": "1"},
    "restart": {"long_name": "Number of the restart of k-means++", "units": "1"},
}
_REFERENCES = (
    "de Amorim, R. C. and Makarenkov, V. (2021). Improving cluster recovery with feature rescaling "
    "factors. Applied Intelligence. https://arxiv.org/abs/2012.00477"
)


def dataset_attributes() -> dict[str, str]:
    """Return the attributes of a cube as a whole.

    Examples
    --------
    >>> sorted(dataset_attributes())
    ['references', 'source', 'title']
    """
    return {
        "title": "Parameter sweep of intelligent Minkowski weighted k-means",
        "source": f"imwk-sweep {version('imwk-sweep')}",
        "references": _REFERENCES,
    }


def coordinate_attributes(dim: str) -> dict[str, Any]:
    """Return the attributes of a coordinate.

    Examples
    --------
    >>> coordinate_attributes("p1")["units"]
    '1'
    """
    return _COORDINATES[dim]


def variable_attributes(variable: Variable) -> dict[str, Any]:
    """Return the attributes of a variable: its meaning and unit, and those of its values.

    Examples
    --------
    >>> from storage.layout.schema import VARIABLES
    >>> variable_attributes(VARIABLES["tile_seconds"])["units"]
    's'
    >>> variable_attributes(VARIABLES["status"])["flag_meanings"]
    'missing done failed not_part'
    """
    attributes: dict[str, Any] = {"long_name": variable.about}
    if variable.name == "status":
        meanings = " ".join(status.name.lower() for status in Status)
        return attributes | {"flag_values": list(map(int, Status)), "flag_meanings": meanings}
    if variable.part is not None:
        attributes["units"] = "1"
    if variable.name == "tile_seconds":
        attributes["units"] = "s"  # xarray would read "seconds" as time spans
    if variable.is_count:
        attributes["_FillValue"] = variable.fill
    return attributes
