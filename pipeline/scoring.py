"""Rate labellings of one data set: by its classes, and by scores that need no classes."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.random import SeedSequence

from pipeline.core import (
    adjusted_mutual_info,
    adjusted_rand_index,
    calinski_harabasz,
    davies_bouldin,
    normalised_mutual_info,
)
from pipeline.core.agreement import agreement_with
from pipeline.core.scores import InfoScores, Silhouettes
from pipeline.core.types import Float64Array, FloatArray, IntArray
from pipeline.core.validation import as_choice
from pipeline.plugins.calls import loaded_plugin, scored
from pipeline.plugins.kinds import Score as PluginScore
from pipeline.plugins.registry import find_plugin
from pipeline.score_facts import SCORE_FACTS, SCORES, ScoreFacts, suffix

#: Rates labellings (r, n).
Score = Callable[[IntArray], float | Float64Array]


class Scorer:
    """Rates labellings of one data set.

    Parameters
    ----------
    X : ndarray, shape (n, m)
        The normalised data.
    original : ndarray, shape (n, m)
        The data before they were normalised, for `info`.
    classes : ndarray of int, shape (n,), or None
        The known classes, `NO_CLASS` for noise points, which scores that need classes leave out.
        Without classes, these scores are not computed.
    scores : iterable of str
        Some of `SCORES`, or names of plug-ins. The ARI is always computed where there are classes.
    seed : SeedSequence
        Chooses the rows from which the silhouette and `info` of a large data set are computed.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> classes, names = np.array([0, 0, 1, 1]), ["silhouette", "davies-bouldin"]
    >>> scorer = Scorer(X, X, classes, names, SeedSequence(1))
    >>> for name, values in scorer.score(np.array([[1, 1, 0, 0], [0, 0, 0, 0]])).items():
    ...     print(name, values.round(2).tolist())
    ari [1.0, 0.0]
    silhouette [0.98, -1.0]
    davies_bouldin [0.02, inf]
    """

    def __init__(
        self,
        X: FloatArray,
        original: FloatArray,
        classes: IntArray | None,
        scores: Iterable[str],
        seed: SeedSequence,
    ) -> None:
        prepare: dict[str, Callable[[], Score]] = {
            "silhouette": lambda: Silhouettes(X, seed).of,
            "calinski-harabasz": lambda: partial(calinski_harabasz, X),
            "davies-bouldin": lambda: partial(davies_bouldin, X),
            "info": lambda: InfoScores(original, seed).of,
        }
        if classes is not None:
            prepare["ari"] = lambda: agreement_with(classes, adjusted_rand_index)
            prepare["ami"] = lambda: agreement_with(classes, adjusted_mutual_info)
            prepare["nmi"] = lambda: agreement_with(classes, normalised_mutual_info)
        wanted = list(scores)
        plugins = {name: _plugin_facts(name) for name in wanted if find_plugin("score", name)}
        for name, facts in plugins.items():
            if classes is not None or not facts.needs_classes:
                prepare[name] = partial(_of_plugin, X, classes, name)
        names = ("ari", *(as_choice(name, "score", (*SCORES, *plugins)) for name in wanted))
        self._scores = {name: prepare[name]() for name in names if name in prepare}
        self._facts = {**SCORE_FACTS, **plugins}

    def score(self, labels: IntArray) -> dict[str, Float64Array]:
        """Return the values of the labellings (r, n), by the suffixes of scores.

        A score is the worst where it is undefined, such as for a single cluster.
        """
        return {
            suffix(name): _defined(self._facts[name], values(labels))
            for name, values in self._scores.items()
        }


def _plugin_facts(name: str) -> ScoreFacts:
    what = loaded_plugin("score", name).what
    assert isinstance(what, PluginScore)
    return what.facts(name)


def _of_plugin(X: FloatArray, classes: IntArray | None, name: str) -> Score:
    return lambda labels: scored(X, labels, classes, name)


def _defined(facts: ScoreFacts, values: float | Float64Array) -> Float64Array:
    return np.where(np.isnan(values), facts.worst, values)
