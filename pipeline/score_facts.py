"""The scores of labellings by name: what each needs, and how its values may be compared."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from types import MappingProxyType


@dataclass(frozen=True)
class ScoreFacts:
    """What has to be known of a score in order to use it.

    Attributes
    ----------
    words : str
        What it is called inside a sentence.
    lowest, highest : float
        The values between which it lies.
    across_k, across_normalisations : bool
        Whether values may be compared between labellings with different numbers of clusters, and
        between normalisations of the same data.
    higher_is_better : bool
        Whether the highest value is the best, or the lowest.
    needs_classes : bool
        Whether it compares labellings with known classes.
    needs_tile : bool
        Whether it compares all labellings of a tile with each other. Such a score is computed from
        kept labels; a sweep, which computes block by block, cannot.
    """

    words: str
    lowest: float
    highest: float
    across_k: bool
    across_normalisations: bool
    higher_is_better: bool = True
    needs_classes: bool = False
    needs_tile: bool = False

    @property
    def title(self) -> str:
        """What it is called at the beginning of a title."""
        return self.words[0].upper() + self.words[1:]

    @property
    def worst(self) -> float:
        """The worst value, which labellings get for which the score is undefined.

        They are never chosen then, and no result is missing.
        """
        return self.lowest if self.higher_is_better else self.highest


#: All scores, by their names in a spec and on the command line.
SCORE_FACTS: Mapping[str, ScoreFacts] = MappingProxyType(
    {
        "ari": ScoreFacts("adjusted Rand index", -1, 1, True, True, needs_classes=True),
        "silhouette": ScoreFacts("silhouette", -1, 1, True, False),
        "calinski-harabasz": ScoreFacts("Calinski-Harabasz score", 0, inf, True, False),
        # The entropy of the labels stands against the better fit of more clusters.
        "info": ScoreFacts("information of the features about the labels", -inf, inf, True, True),
        "davies-bouldin": ScoreFacts(
            "Davies-Bouldin score (lower is better)", 0, inf, True, False, higher_is_better=False
        ),
        "ami": ScoreFacts("adjusted mutual information", -1, 1, True, True, needs_classes=True),
        # It grows with k, because it is not corrected for chance.
        "nmi": ScoreFacts("normalised mutual information", 0, 1, False, True, needs_classes=True),
        # Few clusters agree more easily, and each normalisation has references of its own.
        "central": ScoreFacts(
            "mean ARI with other labellings", -1, 1, False, False, needs_tile=True
        ),
    }
)

#: The scores that a spec may name, in the order in which it stores them. The ARI is always computed
#: where there are classes. Later names go to the end, so that no fingerprint changes.
SCORES = tuple(
    name for name, facts in SCORE_FACTS.items() if name != "ari" and not facts.needs_tile
)
#: The scores that compare all labellings of a tile with each other.
TILE_SCORES = tuple(name for name, facts in SCORE_FACTS.items() if facts.needs_tile)
#: The scores that sweeps of tables compute by default; they need no classes.
DEFAULT_SCORES = ("silhouette", "calinski-harabasz", "info")


def suffix(score: str) -> str:
    """Return the suffix of a score's variables in the cube.

    Examples
    --------
    >>> suffix("calinski-harabasz")
    'calinski_harabasz'
    """
    return score.replace("-", "_")
