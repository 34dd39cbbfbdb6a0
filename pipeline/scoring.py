"""Rate labellings of one data set: by its classes, and by scores that need no classes."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.random import SeedSequence

from pipeline.core import adjusted_rand_index, calinski_harabasz
from pipeline.core.scores import Silhouettes
from pipeline.core.types import FloatArray, IntArray

#: The least value of each score that needs no classes. Labellings for which the score is undefined,
#: such as a single cluster, get it: they are never chosen, and no result is missing.
LEAST = {"silhouette": -1.0, "calinski-harabasz": 0.0}
SCORES = tuple(LEAST)

Score = Callable[[IntArray], float | FloatArray]


def suffix(score: str) -> str:
    """Return the suffix of a score's variables in the cube.

    Examples
    --------
    >>> suffix("calinski-harabasz")
    'calinski_harabasz'
    """
    return score.replace("-", "_")


class Scorer:
    """Rates labellings of one data set.

    Parameters
    ----------
    X : ndarray, shape (n, m)
        The normalised data.
    classes : ndarray of int, shape (n,), or None
        The known classes, for the ARI.
    scores : iterable of str
        Some of `SCORES`.
    seed : SeedSequence
        Chooses the rows from which the silhouette of a large data set is computed.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> scorer = Scorer(X, np.array([0, 0, 1, 1]), ["silhouette"], SeedSequence(1))
    >>> for name, values in scorer.score(np.array([[1, 1, 0, 0], [0, 0, 0, 0]])).items():
    ...     print(name, values.round(2).tolist())
    ari [1.0, 0.0]
    silhouette [0.98, -1.0]
    """

    def __init__(
        self, X: FloatArray, classes: IntArray | None, scores: Iterable[str], seed: SeedSequence
    ) -> None:
        self._classes = classes
        self._scores = {score: _prepared(score, X, seed) for score in scores}

    def score(self, labels: IntArray) -> dict[str, FloatArray]:
        """Return the values of the labellings (r, n), under ``ari`` and the suffixes of scores."""
        found = {}
        if self._classes is not None:
            found["ari"] = np.asarray(adjusted_rand_index(self._classes, labels))
        for score, values in self._scores.items():
            found[suffix(score)] = np.nan_to_num(values(labels), nan=LEAST[score])
        return found


def _prepared(score: str, X: FloatArray, seed: SeedSequence) -> Score:
    return Silhouettes(X, seed).of if score == "silhouette" else partial(calinski_harabasz, X)
