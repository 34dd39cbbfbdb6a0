"""Select parts of an open cube by label, and find its variables by name."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.validation import as_choice, as_exponent
from pipeline.spec.plugins import PluginFacts, clusterer_parts
from storage.layout.attributes import read_attribute
from storage.layout.schema import Variable, all_results

#: The ARI of imwk-means on rescaled data, the main result of the paper.
DEFAULT_VARIABLE = "rescaled_imwk_ari"
#: A computed exponent, such as 0.1 + 1.3, differs a little from the decimal number on the grid.
SNAP = 1e-6
#: How many exponents on each side an error lists.
NEIGHBOURS = 2

_WORDS = {"config": "configuration", "normalisation": "normalisation"}


def select(
    cube: xr.Dataset,
    *,
    config: str | Iterable[str] | None = None,
    dataset: int | Iterable[int] | None = None,
    normalisation: str | Iterable[str] | None = None,
    p1: float | Iterable[float] | None = None,
    p2: float | Iterable[float] | None = None,
    where: Mapping[str, Any] | None = None,
) -> xr.Dataset:
    """Select parts of a cube by label, each once; dimensions that are not given are kept.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    config, normalisation : str or iterable of str, optional
        Names.
    dataset : int or iterable of int, optional
        Numbers of data sets.
    p1, p2 : float or iterable of float, optional
        Exponents of the grid, accurate to 1e-6.
    where : mapping, optional
        One or more values of coordinates along the configurations, such as ``{"k": [3, 6]}``. A
        configuration is kept if it has one of the values of every coordinate.

    Returns
    -------
    xarray.Dataset
        Lazy if `cube` is, with all its dimensions.

    Raises
    ------
    InvalidInputError
        If a label is not in the cube; the message has similar names or the nearest exponents.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.2]], {"config": ["Iris"], "p1": [1.4, 1.5]}, name="imwk_ari")
    >>> select(grid.to_dataset(), config="Iris", p1=1.1 + 0.3).imwk_ari.values.tolist()
    [[0.1]]
    >>> select(grid.to_dataset(), p1=1.43)
    Traceback (most recent call last):
    pipeline.core.errors.InvalidInputError: p1 = 1.43 is not on the grid of this cube. Near it are 1.4, 1.5.
    """  # noqa: E501 - the message is one line
    wanted: dict[str, list[Any]] = {
        "config": [_name(cube, "config", name) for name in _listed(config)],
        "dataset": [_dataset(cube, number) for number in _listed(dataset)],
        "normalisation": [_name(cube, "normalisation", name) for name in _listed(normalisation)],
        "p1": [on_grid(cube, "p1", p) for p in _listed(p1)],
        "p2": [on_grid(cube, "p2", p) for p in _listed(p2)],
    }
    once = {dim: list(dict.fromkeys(labels)) for dim, labels in wanted.items() if labels}
    return _where(cube.sel(once), where or {})


def config_coordinates(cube: xr.Dataset) -> list[str]:
    """Return the names of the coordinates that describe configurations, such as ``noise_share``.

    Examples
    --------
    >>> coords = {"config": ["a", "b"], "k": ("config", [3, 6]), "p1": [1.5]}
    >>> config_coordinates(xr.Dataset(coords=coords))
    ['k']
    """
    return [str(name) for name in cube.coords if cube[name].dims == ("config",) != (name,)]


def _where(cube: xr.Dataset, wanted: Mapping[str, Any]) -> xr.Dataset:
    kept = np.ones(cube.sizes["config"] if wanted else 0, dtype=np.bool_)
    for name, values in wanted.items():
        known = cube[as_choice(name, "coordinate of configurations", config_coordinates(cube))]
        kept &= np.any([_equal(known, value) for value in _listed(values)], axis=0)
    if not wanted:
        return cube
    if not kept.any():
        asked = " and ".join(f"{name} = {value}" for name, value in wanted.items())
        raise InvalidInputError(f"No configuration has {asked} together.")
    return cube.isel(config=np.flatnonzero(kept))


def _equal(known: xr.DataArray, value: Any) -> NDArray[np.bool_]:
    """Return which configurations have a value; raise an error if there is none."""
    found = known.values == _of_type(known, value)
    if not found.any():
        every = dict.fromkeys(known.values[known.notnull().values & (known.values != "")].tolist())
        raise InvalidInputError(
            f"No configuration has {known.name} = {value}. Known: {', '.join(map(str, every))}."
        )
    return np.asarray(found)


def _of_type(known: xr.DataArray, value: Any) -> Any:
    try:
        return str(value) if known.dtype.kind not in "fi" else float(value)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"{known.name} is a number, got {value!r}.") from error


def as_variable(cube: xr.Dataset, name: str) -> Variable:
    """Return the description of a result of this cube's sweep, by its name.

    Examples
    --------
    >>> as_variable(xr.Dataset({"imwk_ari": 0.5}), "imwk_air")
    Traceback (most recent call last):
    pipeline.core.errors.InvalidInputError: Unknown variable 'imwk_air'. Did you mean 'imwk_ari'? Known: imwk_ari.
    """  # noqa: E501 - the message is one line
    known = results_of(cube)
    reason = _why_absent(cube, name)
    if name not in known and reason:
        raise InvalidInputError(
            f"There is no {name} in this cube: {reason}. Known: {', '.join(known)}."
        )
    return described(cube)[as_choice(name, "variable", known)]


def described(cube: xr.Dataset) -> dict[str, Variable]:
    """Return the descriptions of all results that a cube may have, by name.

    A cube records what has to be known of its plug-ins, so that none of them is needed here.

    Examples
    --------
    >>> cube = xr.Dataset(attrs={"spec": {"clusterers": ["ward"]}})
    >>> described(cube)["rescaled_ward_ari"].dims
    ('p1',)
    """
    keys = _spec_keys(cube)
    plugins = [PluginFacts.model_validate(facts) for facts in keys.get("plugins", ())]
    return all_results(keys.get("clusterers", ()), plugins)


def _parts(cube: xr.Dataset) -> tuple[str, ...] | None:
    """Return all parts that a cube's sweep computes; None if they are unknown."""
    keys = _spec_keys(cube)
    if "parts" not in keys:
        return None
    return (*keys["parts"], *clusterer_parts(keys.get("clusterers", ())))


def _spec_keys(cube: xr.Dataset) -> dict[str, Any]:
    keys: dict[str, Any] = read_attribute(cube.attrs, "spec", {})
    return keys


def _why_absent(cube: xr.Dataset, name: str) -> str | None:
    variable = described(cube).get(name)
    if variable is None:
        return None
    if variable.needs_labels and is_unlabelled(cube):
        name = str(variable.score).upper()
        return f"there is no {name} without labels, but there are scores such as the silhouette"
    parts = _parts(cube)
    if parts and variable.part not in parts:
        return f"its sweep does not compute {variable.part}, only {', '.join(parts)}"
    if variable.facts is None:
        return None
    if variable.facts.needs_tile:
        command = f"imwk choose, or imwk cluster --by {variable.score}"
        return (
            f"{variable.score} compares all labellings of a tile, so it is not stored ({command})"
        )
    setting = f'scores = ["{variable.score}"]'
    return f"its spec does not name {variable.score} among its scores ({setting})"


def is_unlabelled(cube: xr.Dataset) -> bool:
    """Return whether no configuration in a cube, or in a selected part of it, has labels.

    Examples
    --------
    >>> cube = xr.Dataset(coords={"config": ["Iris", "mine"]}, attrs={"unlabelled": ["mine"]})
    >>> is_unlabelled(cube), is_unlabelled(select(cube, config="mine"))
    (False, True)
    """
    unlabelled = unlabelled_configs(cube)
    return bool(unlabelled) and set(cube["config"].values.tolist()) <= set(unlabelled)


def unlabelled_configs(cube: xr.Dataset) -> list[str]:
    """Return the configurations without labels, which have no ARI.

    Examples
    --------
    >>> unlabelled_configs(xr.Dataset(attrs={"unlabelled": '["mine"]'}))
    ['mine']
    """
    return list(read_attribute(cube.attrs, "unlabelled", []))


def results_of(cube: xr.Dataset) -> list[str]:
    """Return the names of the results that a cube's sweep computes; no ARI if there are no labels.

    Examples
    --------
    >>> results_of(xr.Dataset({"imwk_ari": 0.5, "status": 1}))
    ['imwk_ari']
    """
    parts = _parts(cube)
    unlabelled = is_unlabelled(cube)
    return [
        variable.name
        for variable in described(cube).values()
        if variable.name in cube
        and (parts is None or variable.part in parts)
        and not (unlabelled and variable.needs_labels)
    ]


def on_grid(cube: xr.Dataset, dim: str, exponent: float) -> float:
    """Return the exponent of the cube's grid that is equal to a number, up to rounding.

    Examples
    --------
    >>> on_grid(xr.Dataset(coords={"p1": [1.1, 1.2, 1.3]}), "p1", 1.1 + 0.1)
    1.2
    """
    grid, exponent = cube[dim].values, as_exponent(exponent)
    distances = np.abs(grid - exponent)
    if len(grid) and distances.min() <= SNAP * (1 + 1e-6):  # includes 1e-6 itself, which is rounded
        return float(grid[distances.argmin()])
    below, above = np.sort(grid[grid < exponent]), np.sort(grid[grid > exponent])
    near = [*below[-NEIGHBOURS:], *above[:NEIGHBOURS]]
    raise InvalidInputError(
        f"{dim} = {exponent!r} is not on the grid of this cube. "
        f"Near it are {', '.join(f'{p:g}' for p in near)}."
    )


def exponents_of(cube: xr.Dataset, variable: str) -> tuple[str, ...]:
    """Return the exponents that a result depends on; raise an error if there are none.

    Examples
    --------
    >>> exponents_of(xr.Dataset({"imwk_ari": ("p1", [0.5])}), "imwk_ari")
    ('p1',)
    """
    dims = as_variable(cube, variable).dims
    exponents = tuple(dim for dim in dims if dim in ("p1", "p2"))
    if not exponents:
        raise InvalidInputError(
            f"{variable} has no exponents. Choose another variable, such as {DEFAULT_VARIABLE}."
        )
    return exponents


def _listed(given: Any) -> list[Any]:
    if given is None:
        return []
    if isinstance(given, Iterable) and not isinstance(given, str):
        return list(given)
    return [given]


def _name(cube: xr.Dataset, dim: Hashable, name: str) -> str:
    return as_choice(name, _WORDS[str(dim)], cube[dim].values.tolist())


def _dataset(cube: xr.Dataset, number: int) -> int:
    known = cube["dataset"].values
    if number not in known:
        raise InvalidInputError(
            f"There is no data set {number} in this cube. It has {known.min()} to {known.max()}."
        )
    return number
