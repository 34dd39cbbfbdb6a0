"""The labellings among which a rule has to choose, and what each rule picks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from warnings import catch_warnings, simplefilter

import numpy as np

from pipeline.core import (
    ConstantFeatureWarning,
    adjusted_rand_index,
    central_scores,
    ensembles,
    imwk_grid,
    imwk_many,
    info_score,
    kmeans,
    normalise,
    rescale,
)
from pipeline.core.types import Float64Array, IntArray
from pipeline.datasets import Dataset
from pipeline.scoring import Scorer
from pipeline.seeds import seed_sequence

#: p1 and p2: 1.2, 1.6, ... 4.8.
EXPONENTS = [round(1.2 + 0.4 * step, 1) for step in range(10)]
NORMALISATIONS = ("range", "z-score")
RESTARTS = 100
SCORES = ("silhouette", "calinski-harabasz", "info")


@dataclass(frozen=True, eq=False)
class Candidates:
    """Labellings of one data set.

    Attributes
    ----------
    data : Dataset
        The data set, not normalised.
    k : int
        The number of clusters.
    labels : ndarray of int, shape (r, n)
        For each normalisation: those of imwk-means, those of imwk-means on rescaled data, and that
        of k-means++ with the least inertia.
    kinds : ndarray of str, shape (r,)
        ``plain``, ``rescaled`` or ``k-means++``.
    scores : dict of str to ndarray, shape (r,)
        The ARI, and the scores that a rule may use.
    restarts : ndarray
        The ARIs of all restarts of k-means++.
    """

    data: Dataset
    k: int
    labels: IntArray
    kinds: np.ndarray[tuple[int], np.dtype[np.str_]]
    scores: Mapping[str, Float64Array]
    restarts: Float64Array

    def among(self, *kinds: str) -> IntArray:
        """Return the places of the candidates of some kinds."""
        return np.flatnonzero(np.isin(self.kinds, kinds))

    def picked(self, score: str, *kinds: str) -> float:
        """Return the ARI of the candidate with the highest score, of the first on a tie."""
        places = self.among(*kinds)
        return float(self.ari[places[np.argmax(self.scores[score][places])]])

    @property
    def ari(self) -> Float64Array:
        """The ARI of every candidate."""
        return self.scores["ari"]

    @cached_property
    def best(self) -> float:
        """The highest ARI on rescaled data, which no rule without classes can know."""
        return self.picked("ari", "rescaled")


def candidates(data: Dataset, k: int, name: str, normalisation: str) -> Candidates:
    """Compute the candidates of one normalisation. The name is that of the random streams."""
    with catch_warnings():
        simplefilter("ignore", ConstantFeatureWarning)
        X = normalise(data.X, normalisation)
    plain = imwk_many(X, k, EXPONENTS, dtype="float32")
    Xs = [rescale(X, run.labels, run.weights) for run in plain]
    rescaled = [run for row in imwk_grid(Xs, k, EXPONENTS, dtype="float32") for run in row]
    restarts = kmeans(X, k, RESTARTS, seed_sequence(0, name, normalisation))
    least = restarts.labels[restarts.inertia.argmin()]
    labels = np.stack([*(run.labels for run in (*plain, *rescaled)), least])
    kinds = np.repeat(["plain", "rescaled", "k-means++"], [len(plain), len(rescaled), 1])
    scores = Scorer(X, data.X, data.y, SCORES, seed_sequence(0, name)).score(labels)
    aris = np.asarray(adjusted_rand_index(data.y, restarts.labels))
    return Candidates(data, k, labels, kinds, scores, aris)


def joined(parts: Sequence[Candidates]) -> Candidates:
    """Return the candidates of several normalisations, which then compete with each other."""
    return Candidates(
        parts[0].data,
        parts[0].k,
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        {name: np.concatenate([part.scores[name] for part in parts]) for name in parts[0].scores},
        np.concatenate([part.restarts for part in parts]),
    )


def _central(found: Candidates) -> float:
    places = found.among("rescaled")
    return float(found.ari[places[np.argmax(central_scores(found.labels[places]))]])


def _with_ensembles(found: Candidates) -> float:
    """Return the ARI of the best by info among candidates and ensembles of the best of them."""
    places = found.among("plain", "rescaled")
    scores = found.scores["info"][places]
    made = np.stack(list(ensembles(found.labels[places], scores, found.k).values()))
    aris = np.append(found.ari[places], adjusted_rand_index(found.data.y, made))
    return float(aris[np.argmax(np.append(scores, info_score(found.data.X, made)))])


#: What is picked, and from which candidates; each gives an ARI.
RULES: Mapping[str, Callable[[Candidates], float]] = {
    "best possible, rescaled": lambda found: found.best,
    "silhouette, rescaled": lambda found: found.picked("silhouette", "rescaled"),
    "Calinski-Harabasz, rescaled": lambda found: found.picked("calinski_harabasz", "rescaled"),
    "central, rescaled": _central,
    "info, plain and rescaled": lambda found: found.picked("info", "plain", "rescaled"),
    "info, also k-means++": lambda found: found.picked("info", "plain", "rescaled", "k-means++"),
    "info, with ensembles": _with_ensembles,
    "k-means++, least inertia": lambda found: float(found.ari[found.among("k-means++")].mean()),
    "k-means++, expected": lambda found: float(found.restarts.mean()),
}
