"""Which number of clusters each rule prefers, where a cube has one table with several."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

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
    dataset : int
        The number of the data set.
    """

    configs: tuple[str, ...]
    counts: tuple[int, ...]
    scores: Mapping[str, tuple[float, ...]]
    default: str
    dataset: int = 0

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
    groups = (_distinct_counts(group) for group in _same_table(spec, choices))
    return [_compared(group) for families in groups for group in families]


def counts_not_compared(spec: SweepSpec, choices: Iterable[DatasetChoice]) -> list[str]:
    """Return why tables that have several numbers of clusters are not compared.

    Parameters
    ----------
    spec, choices
        As for `choose_counts`.
    """
    return [
        f"Numbers of clusters of {', '.join(names)} are not compared: they have the same table, "
        "and some the same k."
        for group in _same_table(spec, choices)
        if len(_by_count(group)) > 1 and not list(_distinct_counts(group))
        for names in [[choice.config for choice in group]]
    ]


def _same_table(spec: SweepSpec, choices: Iterable[DatasetChoice]) -> list[list[DatasetChoice]]:
    """Return the choices of each table, by the number of clusters."""
    matrices, groups = spec.datasets.matrices, defaultdict(list)
    for choice in choices:
        if choice.config in matrices:
            sha256 = matrices[choice.config].hashes[choice.dataset]
            groups[sha256, choice.dataset].append(choice)
    return [sorted(group, key=lambda choice: choice.k) for group in groups.values()]


def _distinct_counts(group: list[DatasetChoice]) -> Iterator[list[DatasetChoice]]:
    """Yield those of one table in which each number occurs once: all, or those of one name."""
    families = defaultdict(list)
    for choice in group:
        families[choice.config.removesuffix(f" k={choice.k}")].append(choice)
    together = [group] if len(_by_count(group)) == len(group) else families.values()
    yield from (some for some in together if len(some) == len(_by_count(some)) > 1)


def _by_count(group: list[DatasetChoice]) -> set[int]:
    return {choice.k for choice in group}


def _compared(choices: list[DatasetChoice]) -> CountChoice:
    scores = {
        rule: tuple(pick.score for choice in choices if (pick := choice.by(rule)) is not None)
        for rule in COMPARABLE
    }
    configs, counts = zip(*((choice.config, choice.k) for choice in choices), strict=True)
    return CountChoice(configs, counts, scores, choices[0].default, choices[0].dataset)


def _best(rule: str, values: tuple[float, ...]) -> int:
    sign = 1 if SCORE_FACTS[rule].higher_is_better else -1
    return int(np.argmax(sign * np.array(values)))
