"""Find plug-ins by name: registered in this process, or entry points of installed packages.

A name is only compared with the names of entry points. A module path or anything else that a spec
or a cube contains is never imported, and no entry point is loaded before a spec uses its name.
"""

from importlib.metadata import EntryPoint, entry_points
from math import inf
from typing import Any

from pipeline.core.errors import InvalidInputError
from pipeline.errors import PluginError
from pipeline.plugins.kinds import (
    GROUPS,
    Clusterer,
    Function,
    Plugin,
    Score,
    as_plugin,
    check_name,
    is_name,
)

_registered: dict[tuple[str, str], Plugin] = {}
#: Entry points that were loaded already.
_loaded: dict[tuple[str, str], Plugin] = {}


def register_normalisation(name: str, function: Function, *, version: str) -> None:
    """Register a normalisation for this process.

    Parameters
    ----------
    name : str
        Its name in a spec.
    function : callable
        ``function(X)`` returns the normalised data, of the same shape.
    version : str
        Part of the fingerprint. Give another one when results change.

    Notes
    -----
    Other processes do not know it, so compute with ``workers=0``; or install a package with an
    entry point.

    Examples
    --------
    >>> register_normalisation("halved", lambda X: X / 2, version="1")
    >>> from pipeline.plugins import normalised
    >>> normalised([[2.0], [4.0]], "halved").tolist()
    [[1.0], [2.0]]
    """
    _register("normalisation", name, version, function)


def register_clusterer(
    name: str, function: Function, *, version: str, random: bool = False
) -> None:
    """Register a clusterer for this process.

    Parameters
    ----------
    name, version : str
        As for `register_normalisation`.
    function, random
        As in `Clusterer`.

    Examples
    --------
    >>> register_clusterer("halves", lambda X, k, seed: X[:, 0] > X[:, 0].mean(), version="1")
    """
    _register("clusterer", name, version, Clusterer(function, random))


def register_score(
    name: str,
    function: Function,
    *,
    version: str,
    higher_is_better: bool = True,
    needs_classes: bool = False,
    lowest: float = -inf,
    highest: float = inf,
) -> None:
    """Register a score for this process.

    Parameters
    ----------
    name, version : str
        As for `register_normalisation`.
    function, higher_is_better, needs_classes, lowest, highest
        As in `Score`.

    Examples
    --------
    >>> register_score("clusters-found", lambda X, labels: len(set(labels)), version="1", lowest=1)
    """
    what = Score(function, higher_is_better, needs_classes, float(lowest), float(highest))
    _register("score", name, version, what)


def register_generator(name: str, function: Function, *, version: str) -> None:
    """Register a generator of data sets for this process.

    Parameters
    ----------
    name, version : str
        As for `register_normalisation`.
    function : callable
        ``function(seed, **parameters)`` returns a matrix X and the classes y of its rows.

    Examples
    --------
    >>> register_generator("line", lambda seed, n: ([[i] for i in range(n)], [0] * n), version="1")
    """
    _register("generator", name, version, function)


def _register(kind: str, name: str, version: str, what: Any) -> None:
    check_name(kind, name)
    if not isinstance(version, str) or not version:
        raise InvalidInputError(f"version must be a text such as '1.0', got {version!r}.")
    _registered[kind, name] = as_plugin(kind, name, version, None, what)


def installed_names(kind: str) -> list[str]:
    """Return the names of all plug-ins of a kind that could be used, without loading any.

    Examples
    --------
    >>> register_normalisation("as-given", lambda X: X, version="1")
    >>> "as-given" in installed_names("normalisation")
    True
    """
    registered = {name for known, name in _registered if known == kind}
    installed = {entry.name for entry in entry_points(group=GROUPS[kind])}
    return sorted(name for name in registered | installed if is_name(kind, name))


def find_plugin(kind: str, name: str) -> Plugin | None:
    """Return the plug-in of a name, which is loaded once; None if there is none.

    Raises
    ------
    PluginError
        If it cannot be loaded, or several packages have the name.
    """
    if not is_name(kind, name):
        return None
    found = _registered.get((kind, name)) or _loaded.get((kind, name))
    if found is None:
        entries = tuple(entry_points(group=GROUPS[kind], name=name))
        if entries:
            found = _loaded[kind, name] = _load(kind, entries)
    return found


def _load(kind: str, entries: tuple[EntryPoint, ...]) -> Plugin:
    origins = sorted({entry.dist.name for entry in entries if entry.dist is not None})
    first = entries[0]
    if len(origins) != 1 or first.dist is None:
        raise PluginError(
            f"Several packages have the {kind} {first.name!r}: {', '.join(origins)}. Uninstall all "
            "but one of them."
        )
    try:
        what = first.load()
    except (Exception, SystemExit) as error:
        raise PluginError(
            f"The {kind} {first.name!r} of {first.dist.name} {first.dist.version} cannot be "
            f"loaded: {type(error).__name__}: {error}. Repair or reinstall that package."
        ) from None
    return as_plugin(kind, first.name, first.dist.version, first.dist.name, what)
