"""How labellings of one data set are judged: by its classes, and by scores that need none."""

from collections.abc import Callable, Iterable
from functools import partial

import numpy as np
from numpy.random import SeedSequence

from pipeline.core import adjusted_rand_index, calinski_harabasz
from pipeline.core.scores import Silhouettes
from pipeline.core.types import FloatArray, IntArray

#: The least value of each score without classes. It stands for labellings in which nothing can be
#: compared, such as a single cluster: no choice falls on them, and no result is missing.
LEAST = {"silhouette": -1.0, "calinski-harabasz": 0.0}
SCORES = tuple(LEAST)

Score = Callable[[IntArray], float | FloatArray]


def suffix(score: str) -> str:
    """Return the end of the names of a score's variables in the cube.

    Examples
    --------
    >>> suffix("calinski-harabasz")
    'calinski_harabasz'
    """
    return score.replace("-", "_")


class Judge:
    """Judges labellings of `X` by `classes`, if they are known, and by the `scores` named.

    `seed` chooses the rows that the silhouette of a large data set looks at.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> judge = Judge(X, np.array([0, 0, 1, 1]), ["silhouette"], SeedSequence(1))
    >>> for name, values in judge.judge(np.array([[1, 1, 0, 0], [0, 0, 0, 0]])).items():
    ...     print(name, values.round(2).tolist())
    ari [1.0, 0.0]
    silhouette [0.98, -1.0]
    """

    def __init__(
        self, X: FloatArray, classes: IntArray | None, scores: Iterable[str], seed: SeedSequence
    ) -> None:
        self._classes = classes
        self._scores = {score: _prepared(score, X, seed) for score in scores}

    def judge(self, labels: IntArray) -> dict[str, FloatArray]:
        """Return one value for each labelling (r, n), by ``ari`` and the suffixes of scores."""
        found = {}
        if self._classes is not None:
            found["ari"] = np.asarray(adjusted_rand_index(self._classes, labels))
        for score, values in self._scores.items():
            found[suffix(score)] = np.nan_to_num(values(labels), nan=LEAST[score])
        return found


def _prepared(score: str, X: FloatArray, seed: SeedSequence) -> Score:
    return Silhouettes(X, seed).of if score == "silhouette" else partial(calinski_harabasz, X)
