"""What rules pick for a data set: runs with their labels, scores and flags."""

from dataclasses import dataclass

import numpy as np

from pipeline.core import adjusted_rand_index
from pipeline.core.types import Float64Array, IntArray
from workflows.choice.candidates import Candidate

#: What is picked otherwise than by a score.
BY_LABELS, ENSEMBLE, BASELINE = "by your labels", "ensemble", "k-means++"


@dataclass(frozen=True, eq=False)
class Pick:
    """What a rule picks.

    Attributes
    ----------
    rule : str
        The name of a score, ``"ensemble"``, ``"by your labels"`` or, for the baseline,
        ``"k-means++"``.
    candidate : Candidate or None
        The run. None for an ensemble, which has neither exponents nor weights.
    labels : ndarray of int, shape (n,)
        The cluster of every row.
    score : float
        The value by which it was picked; of the baseline, that of the default rule.
    ari : float or None
        The ARI with the known classes.
    flags : tuple of str
        What the user should know of it.
    """

    rule: str
    candidate: Candidate | None
    labels: IntArray
    score: float
    ari: float | None
    flags: tuple[str, ...] = ()

    @property
    def clusters(self) -> int:
        """The number of clusters that were found."""
        return len(np.unique(self.labels))

    @property
    def what(self) -> str:
        """The pick as words."""
        return "consensus of runs" if self.candidate is None else str(self.candidate)


def ari_between(one: Pick, other: Pick) -> float:
    """Return how far two picks agree."""
    return float(adjusted_rand_index(one.labels, other.labels))


@dataclass(frozen=True, eq=False)
class DatasetChoice:
    """The picks of all rules for one data set.

    Attributes
    ----------
    config : str
        The configuration.
    dataset : int
        The number of the data set.
    k : int
        The number of clusters asked for.
    default : str
        The default rule: `info` or, below 3 features, the silhouette.
    picks : tuple of Pick
        One for each rule, the rules in the order of `RULES`.
    baseline : Pick or None
        The k-means++ run of least inertia, of the normalisation that the default rule prefers.
        None if the sweep has no k-means++.
    gain : float or None
        The `info` of what `info` picks, less that of the baseline, in nats.
    normalisations : int
        How many normalisations compete.
    labelled_rows : int
        The number of rows whose classes the user gave.
    no_ensemble : str or None
        Why there is no ensemble, if one was asked for.
    """

    config: str
    dataset: int
    k: int
    default: str
    picks: tuple[Pick, ...]
    baseline: Pick | None
    gain: float | None
    normalisations: int = 1
    labelled_rows: int = 0
    no_ensemble: str | None = None

    def by(self, rule: str) -> Pick | None:
        """Return the pick of a rule; None if it is not among the picks."""
        return next((pick for pick in self.picks if pick.rule == rule), None)

    @property
    def shown(self) -> tuple[Pick, ...]:
        """All picks and, at the end, the baseline."""
        return self.picks if self.baseline is None else (*self.picks, self.baseline)

    @property
    def info_of_ensemble(self) -> tuple[float, float] | None:
        """The `info` of the ensemble and that of the best run; None if there is no ensemble."""
        ensemble, run = self.by(ENSEMBLE), self.by("info")
        return None if ensemble is None or run is None else (ensemble.score, run.score)

    @property
    def agreement(self) -> Float64Array:
        """The ARI between each two of the shown picks."""
        every = np.stack([pick.labels for pick in self.shown])
        return np.stack([np.asarray(adjusted_rand_index(row, every)) for row in every])
