"""Anomalous patterns: where imwk-means starts, found without any random choice.

All lanes grow one pattern each at the same time. A lane whose pattern is complete goes on with its
next one, so every round of NumPy calls serves all lanes that still have entities left.
"""

import numpy as np

from pipeline.core.centres import CentreMethod, Starts, Turnover, likely_starts
from pipeline.core.lanes.membership import find_members
from pipeline.core.lanes.pattern_state import Members, begin
from pipeline.core.lanes.start import CompletePatterns, Start, largest_patterns
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array, FloatArray, IntArray
from pipeline.core.weights import pattern_weights

#: Entities of complete patterns are dropped from the arrays when less than this share is left.
WORTH_KEEPING = 0.9


def anomalous_patterns(X: FloatArray, k: int, p: Float64Array, find_centres: CentreMethod) -> Start:
    """Peel patterns off all lanes of `X` (m, lanes, n), and keep the `k` largest of each lane."""
    hunt = _Hunt(X, k, p, find_centres)
    while len(hunt.lanes.number):
        hunt.advance()
    return largest_patterns(hunt.found, k)


class _Hunt:
    """The search for the patterns of all lanes, one round of each lane at a time."""

    def __init__(self, X: FloatArray, k: int, p: Float64Array, find_centres: CentreMethod) -> None:
        self.find_centres = find_centres
        self.lanes, self.entities = begin(X, k, p, find_centres)
        self.found: list[CompletePatterns] = []
        self._sow(np.ones(len(p), dtype=np.bool_))

    def advance(self) -> None:
        """Let the pattern of every lane go through one round."""
        members = find_members(self.lanes, self.entities)
        changed = self.lanes.rounds.enter(self.entities.hashes(members))
        moved = self._move(changed, members)
        complete = ~moved | self.lanes.rounds.at_end
        if complete.any():
            self._harvest(complete, members)

    def _move(self, changed: BoolArray, members: Members) -> BoolArray:
        """Move the patterns of changed members to their centres; return which did move."""
        moved, lanes = changed.copy(), self.lanes
        if changed.any():
            columns = np.take(self.entities.values, members.of(changed), axis=1)
            groups = Groups(columns, members.sizes[changed])
            starts = self._starts(changed, members)
            centres, dispersions, minima = self.find_centres(groups, lanes.p[changed], starts)
            lanes.minima.put(changed, minima)
            away = (centres != lanes.centroids[:, changed]).any(axis=0)
            moved[changed] = away
            lanes.centroids[:, moved] = centres[:, away]
            lanes.weights[:, moved] = pattern_weights(dispersions[:, away], lanes.p[moved])
        return moved

    def _starts(self, changed: BoolArray, members: Members) -> Starts | None:
        """Return where the centres of patterns with changed members probably are."""
        entities, lanes = self.entities, self.lanes
        before, entities.member = entities.member, members.mask(len(entities.member))

        def turnover(known: BoolArray) -> Turnover:
            some = changed.copy()
            some[changed] = known
            moved = (entities.member != before) & np.repeat(some, lanes.counts)
            columns = np.flatnonzero(moved)
            values = np.take(entities.values, columns, axis=1)
            signs = np.where(entities.member[columns], 1, -1).astype(values.dtype)
            return Turnover(Groups(values, lanes.count(columns)[some]), signs)

        return likely_starts(lanes.minima.keep(changed), lanes.p[changed], turnover)

    def _harvest(self, complete: BoolArray, members: Members) -> None:
        """Record the complete patterns, and start the next ones of their lanes."""
        self._record(complete, members.sizes)
        ended = members.of(complete)
        self.entities.left[ended] = self.entities.member[ended] = False
        self.lanes.count_patterns(complete, members.sizes)
        going, left = self.lanes.unfinished, self.lanes.remaining.sum()
        if not going.all() or left < WORTH_KEEPING * len(self.entities.left):
            rest = self.entities.left & np.repeat(going, self.lanes.counts)
            self.entities = self.entities.keep(rest)
            self.lanes, complete = self.lanes.keep(going), complete[going]
        if complete.any():
            self._sow(complete)

    def _record(self, complete: BoolArray, sizes: IntArray) -> None:
        lanes = self.lanes
        number, centroids = lanes.number[complete], lanes.centroids[:, complete]
        weights = lanes.weights[:, complete]
        self.found.append(CompletePatterns(number, sizes[complete], centroids, weights))

    def _sow(self, chosen: BoolArray) -> None:
        """Start a new pattern in the chosen lanes: the farthest entity left, with equal weights."""
        lanes, left = self.lanes, np.flatnonzero(self.entities.left)
        lanes.seeds = left[np.searchsorted(left, lanes.starts)]
        lanes.centroids[:, chosen] = self.entities.values[:, lanes.seeds[chosen]]
        lanes.weights[:, chosen] = 1 / len(lanes.weights)
        lanes.minima.forget(chosen)
        lanes.rounds.restart(chosen)
