"""The kinds of plug-ins: what each must be, and which names it may have."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Any

from pipeline.core.errors import InvalidInputError
from pipeline.core.normalise import NORMALISATIONS
from pipeline.errors import PluginError
from pipeline.score_facts import SCORE_FACTS, ScoreFacts

#: The clusterers of imwk-sweep, which need scikit-learn, and whether they start at random.
CLUSTERERS = {"ward": False, "average": False, "gmm": True, "spectral": False}

#: The group of entry points of each kind.
GROUPS = {
    "normalisation": "imwk.normalisations",
    "clusterer": "imwk.clusterers",
    "score": "imwk.scores",
    "generator": "imwk.generators",
}
#: Names are parts of the names of a cube's variables, where a hyphen becomes an underscore.
NAME = re.compile("[a-z][a-z0-9]*(-[a-z0-9]+)*")
LONGEST_NAME = 40
#: Names that imwk-sweep uses itself. A plug-in cannot replace what is built in.
TAKEN: dict[str, tuple[str, ...]] = {
    "normalisation": tuple(NORMALISATIONS),
    "clusterer": (*CLUSTERERS, "kmeans", "imwk", "rescaled"),
    "score": (
        *SCORE_FACTS,
        *("iterations", "clusters", "labels", "converged", "weights", "restart", "inertia"),
    ),
    "generator": (),
}
#: The variables of such clusterers would look like those of other algorithms.
TAKEN_BEGINNINGS = ("kmeans-", "imwk-", "rescaled-")

Function = Callable[..., Any]


@dataclass(frozen=True)
class Clusterer:
    """A clusterer, for an entry point or for `register_clusterer`.

    Attributes
    ----------
    function : callable
        ``function(X, k, seed)`` returns a label for each row of `X`, with at most `k` different
        labels. `seed` is an int from 0 to 2**32 - 1.
    random : bool
        Whether labels depend on the seed. A sweep then makes as many runs as its spec has restarts.
    """

    function: Function
    random: bool = False


@dataclass(frozen=True)
class Score:
    """A score of labellings, for an entry point or for `register_score`.

    Attributes
    ----------
    function : callable
        ``function(X, labels)`` or, with `needs_classes`, ``function(X, labels, classes)`` returns a
        number; NaN where it is undefined. `X` are the normalised data.
    higher_is_better : bool
        Whether the highest value is the best, or the lowest.
    needs_classes : bool
        Whether it compares labels with known classes. Data without classes then lack it.
    lowest, highest : float
        The values between which it lies. Other values are refused.
    """

    function: Function
    higher_is_better: bool = True
    needs_classes: bool = False
    lowest: float = -inf
    highest: float = inf

    def facts(self, name: str) -> ScoreFacts:
        """Return the facts of the score, as for those that are built in.

        Examples
        --------
        >>> Score(len, higher_is_better=False).facts("size").title
        'Size (lower is better)'
        """
        words = name if self.higher_is_better else f"{name} (lower is better)"
        return ScoreFacts(
            words,
            self.lowest,
            self.highest,
            across_k=False,
            across_normalisations=False,
            higher_is_better=self.higher_is_better,
            needs_classes=self.needs_classes,
        )


@dataclass(frozen=True)
class Plugin:
    """A plug-in that can be called in this process.

    Attributes
    ----------
    kind, name : str
        One of `GROUPS`, and its name in a spec.
    version : str
        The version of the distribution, or the one that was given when it was registered.
    distribution : str or None
        The distribution that has the entry point; None if it was registered in Python.
    what : callable, Clusterer or Score
        What the entry point refers to, or what was registered.
    """

    kind: str
    name: str
    version: str
    distribution: str | None
    what: Function | Clusterer | Score

    def __str__(self) -> str:
        origin = self.distribution or "registered in Python,"
        return f"the {self.kind} {self.name!r} ({origin} {self.version})"

    @property
    def function(self) -> Function:
        """The function to call."""
        return self.what.function if isinstance(self.what, Clusterer | Score) else self.what


def is_name(kind: str, name: object) -> bool:
    """Return whether a plug-in of a kind may have a name.

    Examples
    --------
    >>> [is_name("clusterer", name) for name in ("k-medoids", "os:system", "ward", "imwk-2")]
    [True, False, False, False]
    """
    return (
        isinstance(name, str)
        and len(name) <= LONGEST_NAME
        and NAME.fullmatch(name) is not None
        and name not in TAKEN[kind]
        and not (kind == "clusterer" and name.startswith(TAKEN_BEGINNINGS))
    )


def check_name(kind: str, name: object) -> None:
    """Raise an error if a plug-in of a kind cannot have a name."""
    if not is_name(kind, name):
        taken = ", ".join((*TAKEN[kind], *(f"{start}..." for start in TAKEN_BEGINNINGS)))
        raise InvalidInputError(
            f"{name!r} cannot be the name of a {kind}. Give lower-case letters, digits and "
            f"hyphens, at most {LONGEST_NAME} and a letter first, but none of {taken}."
        )


def as_plugin(kind: str, name: str, version: str, distribution: str | None, what: Any) -> Plugin:
    """Return a plug-in; a plain function is a clusterer that is not random, or a default score."""
    if kind == "clusterer" and not isinstance(what, Clusterer):
        what = Clusterer(what)
    if kind == "score" and not isinstance(what, Score):
        what = Score(what)
    plugin = Plugin(kind, name, version, distribution, what)
    if not callable(plugin.function):
        raise PluginError(f"{plugin} is not a function, but {type(plugin.function).__name__}.")
    if isinstance(what, Score) and not what.lowest < what.highest:
        raise PluginError(f"{plugin} must have a highest value above its lowest.")
    return plugin
