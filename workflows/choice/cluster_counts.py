"""Which number of clusters each rule prefers, where a cube has one table with several."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from pipeline.score_facts import SCORE_FACTS
from pipeline.spec import SweepSpec
from workflows.choice.choosing import RULES
from workflows.choice.picks import DatasetChoice

#: The rules whose values may be compared between numbers of clusters, and the others.
COMPARABLE = tuple(rule for rule in RULES if SCORE_FACTS[rule].across_k)
NOT_COMPARABLE = tuple(rule for rule in RULES if rule not in COMPARABLE)


@dataclass(frozen=True, eq=False)
class CountChoice:
    """The numbers of clusters of a table, and how each rule rates them.

    Attributes
    ----------
    configs : tuple of str
        The configurations of the table.
    counts : tuple of int
        The number of clusters of each, ascending.
    scores : mapping of str to tuple of float
        For each rule in `COMPARABLE`, the score of what it picks for each number of clusters.
    default : str
        The default rule.
    """

    configs: tuple[str, ...]
    counts: tuple[int, ...]
    scores: Mapping[str, tuple[float, ...]]
    default: str

    @property
    def preferred(self) -> dict[str, int]:
        """The number of clusters that each rule prefers: that of the best score, the least one."""
        return {rule: self.counts[_best(rule, values)] for rule, values in self.scores.items()}

    @property
    def sentence(self) -> str:
        """Which number of clusters to take, and how sure that is."""
        count = self.preferred[self.default]
        friends = [rule for rule, other in self.preferred.items() if other == count]
        if len(friends) == len(self.preferred):
            sure = "All rules prefer it"
        elif len(friends) > 1:
            sure = f"{' and '.join(friends)} prefer it, others not"
        else:
            sure = "No other rule prefers it, so it is not sure"
        return f"By {self.default}, take k = {count}. {sure}.{self._edge(count)}"

    def _edge(self, count: int) -> str:
        if count not in (self.counts[0], self.counts[-1]):
            return ""
        beyond = "smaller" if count == self.counts[0] else "larger"
        return "" if count == 2 and beyond == "smaller" else f" No {beyond} k was tried."


def choose_counts(spec: SweepSpec, choices: Iterable[DatasetChoice]) -> list[CountChoice]:
    """Return how rules rate the numbers of clusters of each table that has several.

    Parameters
    ----------
    spec : SweepSpec
        The spec of the cube.
    choices : iterable of DatasetChoice
        What `choose` returned for the cube.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import make_table
    >>> from pipeline.spec.sweep import Sweep
    >>> from workflows import choose, submit
    >>> table = make_table([[0.0], [1.0], [8.0], [9.0], [30.0], [31.0]])
    >>> keys = {"normalisations": ["range"], "p1": [2], "p2": [2], "restarts": 5}
    >>> sweep = Sweep.of({"mine": table}, k=[2, 3, 4], **keys)
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(sweep, f"{folder}/cube.zarr", workers=0)
    ...     (found,) = choose_counts(sweep.spec, choose(f"{folder}/cube.zarr"))
    >>> found.counts, found.preferred["silhouette"]
    ((2, 3, 4), 3)
    """
    matrices = spec.datasets.matrices
    tables = [choice for choice in choices if choice.config in matrices]
    by_table = sorted(tables, key=lambda choice: (matrices[choice.config].sha256, choice.k))
    groups = groupby(by_table, lambda choice: matrices[choice.config].sha256)
    return [found for _, some in groups for found in _compared(list(some))]


def _compared(choices: list[DatasetChoice]) -> Iterator[CountChoice]:
    counts = Counter(choice.k for choice in choices)
    if len(counts) < 2 or max(counts.values()) > 1:  # the same table under two names
        return
    scores = {
        rule: tuple(pick.score for choice in choices if (pick := choice.by(rule)) is not None)
        for rule in COMPARABLE
    }
    configs = tuple(choice.config for choice in choices)
    yield CountChoice(configs, tuple(counts), scores, choices[0].default)


def _best(rule: str, values: tuple[float, ...]) -> int:
    sign = 1 if SCORE_FACTS[rule].higher_is_better else -1
    return int(np.argmax(sign * np.array(values)))
