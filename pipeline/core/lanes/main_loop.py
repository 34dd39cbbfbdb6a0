"""The main loop of imwk-means: assign, move centroids, weigh features; all lanes at once."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from pipeline.core.centres import (
    CentreMethod,
    Minima,
    Starts,
    Turnover,
    group_dispersions,
    likely_starts,
)
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.lanes.cycles import MAX_ROUNDS, Hashes, entity_hashes
from pipeline.core.lanes.moves import Moves, order_of
from pipeline.core.lanes.result import ImwkResult
from pipeline.core.lanes.start import Start
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float64Array, FloatArray, IntArray, SmallLabels
from pipeline.core.weights import cluster_weights


def run_main_loop(
    X: FloatArray, p: Float64Array, start: Start, find_centres: CentreMethod
) -> list[ImwkResult]:
    """Run the main loop of all lanes of `X` (m, lanes, n) from where their patterns put them."""
    loop = _Loop(X, p, start, find_centres)
    while len(loop.lanes.number):
        loop.advance()
    return [loop.results[lane] for lane in range(X.shape[1])]


class _Flat(NamedTuple):
    """The clusters of all lanes side by side: `p` is (lanes k,), the others (m, lanes k).

    The arrays are views: what is set here is set in the lanes.
    """

    p: Float64Array
    centroids: Float64Array
    dispersions: Float64Array
    minima: Minima


@dataclass
class _Lanes:
    """Lanes that have not ended, and their clusters.

    Attributes
    ----------
    number
        Place of the lane among all lanes; (lanes,).
    p, clusters, patterns
        Exponent, how many of the k clusters a lane has, and how many patterns it found; (lanes,).
    labels
        The last labelling, -1 before the first; (lanes, n).
    history
        Hashes of all labellings; (lanes, rounds).
    centroids, weights, dispersions
        Of all clusters; (m, lanes, k).
    minima
        Where the dispersions are least, as far as known; (m, lanes, k).
    """

    number: IntArray
    p: Float64Array
    clusters: IntArray
    patterns: IntArray
    labels: SmallLabels
    history: Hashes
    centroids: Float64Array
    weights: Float64Array
    dispersions: Float64Array
    minima: Minima

    @classmethod
    def of(cls, start: Start, p: Float64Array, n: int) -> Self:
        """Return the lanes before their first round."""
        lanes, dispersions = len(p), np.zeros_like(start.centroids)
        return cls(
            number=np.arange(lanes),
            p=p,
            clusters=start.clusters,
            patterns=start.patterns,
            labels=np.full((lanes, n), -1),
            history=np.zeros((lanes, 0), dtype=np.uint64),
            centroids=start.centroids,
            weights=start.weights,
            dispersions=dispersions,
            minima=Minima.unknown(dispersions),
        )

    @property
    def flat(self) -> _Flat:
        """All clusters side by side."""
        m, _, k = self.centroids.shape
        return _Flat(
            np.repeat(self.p, k),
            self.centroids.reshape(m, -1),
            self.dispersions.reshape(m, -1),
            Minima(*(part.reshape(m, -1) for part in self.minima)),
        )

    @property
    def cluster_places(self) -> IntArray:
        """Place in (lanes, k) of the cluster of every entity; (lanes n,)."""
        first = self.centroids.shape[2] * np.arange(len(self.p))
        return np.ravel(first[:, np.newaxis] + self.labels)

    def keep(self, going: BoolArray) -> Self:
        """Return the lanes that go on."""
        return type(self)(
            number=self.number[going],
            p=self.p[going],
            clusters=self.clusters[going],
            patterns=self.patterns[going],
            labels=self.labels[going],
            history=self.history[going],
            centroids=np.compress(going, self.centroids, axis=1),
            weights=np.compress(going, self.weights, axis=1),
            dispersions=np.compress(going, self.dispersions, axis=1),
            minima=self.minima.keep(going),
        )

    def result(self, lane: int, rounds: int, converged: bool) -> ImwkResult:
        """Return what a lane has found."""
        clusters, labels = self.clusters[lane], self.labels[lane].astype(np.int64)
        return ImwkResult(
            labels,
            self.centroids[:, lane, :clusters].T.copy(),
            self.weights[:, lane, :clusters].T.copy(),
            rounds,
            int(self.patterns[lane]),
            len(np.unique(labels)),
            converged,
        )


class _Loop:
    """The main loop of all lanes that have not ended, one round at a time."""

    def __init__(
        self, X: FloatArray, p: Float64Array, start: Start, find_centres: CentreMethod
    ) -> None:
        n, k = X.shape[2], start.centroids.shape[2]
        self.find_centres, self.round, self.entity_hashes = find_centres, 0, entity_hashes(n)
        self.lanes = _Lanes.of(start, p, n)
        self.assignment = Assignment(X, p, start.clusters, k)
        self.results: dict[int, ImwkResult] = {}

    def advance(self) -> None:
        """Let every lane go through one round."""
        self.round += 1
        labels = self.assignment.update(self.lanes.centroids, self.lanes.weights)
        hashes = (labels.astype(np.uint64) * self.entity_hashes).sum(axis=1)
        seen_before = (self.lanes.history == hashes[:, np.newaxis]).any(axis=1)
        if seen_before.any():
            stable = (labels == self.lanes.labels).all(axis=1)
            self._end(seen_before, converged=stable)
            labels, hashes = labels[~seen_before], hashes[~seen_before]
        self.lanes.history = np.column_stack([self.lanes.history, hashes])
        if len(self.lanes.number):
            self._update(labels)

    def _update(self, labels: SmallLabels) -> None:
        """Move centroids and weigh features by new labels; end lanes where nothing moved."""
        lanes = self.lanes
        moves = Moves.between(lanes.labels, labels, lanes.centroids.shape[2])
        lanes.labels, before = labels, lanes.centroids.copy()
        self._move_centroids(moves)
        # In round 1 the centroids are the patterns', whose weights have another smoothing: the
        # published values need these weights replaced even where no centroid moves.
        still = (lanes.centroids == before).all(axis=(0, 2)) & (self.round > 1)
        moving = ~still
        lanes.weights[:, moving] = cluster_weights(
            lanes.dispersions[:, moving], lanes.clusters[moving], lanes.p[moving]
        )
        ending = still | (self.round == MAX_ROUNDS)
        if ending.any():
            self._end(ending, converged=still)

    def _move_centroids(self, moves: Moves) -> None:
        """Find centres and dispersions of changed clusters; one with a single member stays."""
        keys, flat = self.lanes.cluster_places, self.lanes.flat
        sizes = np.bincount(keys, minlength=len(flat.p))
        changed = np.bincount(moves.clusters, minlength=len(flat.p)) > 0
        several, alone = changed & (sizes > 1), changed & (sizes == 1)
        starts = self._starts(flat, moves, several)
        flat.minima.forget(changed)
        flat.dispersions[:, changed] = 0.0
        if several.any():
            members = self._members(keys, sizes, several)
            found = self.find_centres(members, flat.p[several], starts)
            flat.centroids[:, several], flat.dispersions[:, several] = found[:2]
            flat.minima.put(several, found.minima)
        if alone.any():
            members = self._members(keys, sizes, alone)
            stay = flat.centroids[:, alone].astype(members.columns.dtype)
            flat.dispersions[:, alone] = group_dispersions(members, stay, flat.p[alone])

    def _starts(self, flat: _Flat, moves: Moves, chosen: BoolArray) -> Starts | None:
        """Return where the centres of chosen clusters probably are."""

        def turnover(known: BoolArray) -> Turnover:
            some = chosen.copy()
            some[chosen] = known
            return moves.turnover(self.assignment.data.columns, some)

        return likely_starts(flat.minima.keep(chosen), flat.p[chosen], turnover)

    def _members(self, keys: IntArray, sizes: IntArray, chosen: BoolArray) -> Groups:
        """Return the members of the chosen clusters, side by side.

        `keys` are the places in (lanes, k) of the entities' clusters; `sizes` and `chosen` are of
        all these places.
        """
        columns = np.flatnonzero(chosen[keys])
        columns = columns[order_of(keys[columns], len(sizes))]
        return Groups(np.take(self.assignment.data.columns, columns, axis=1), sizes[chosen])

    def _end(self, ending: BoolArray, converged: BoolArray) -> None:
        """Record the results of lanes that end, and drop them."""
        for lane in np.flatnonzero(ending).tolist():
            result = self.lanes.result(lane, self.round, bool(converged[lane]))
            self.results[int(self.lanes.number[lane])] = result
        self.assignment.keep(~ending)
        self.lanes = self.lanes.keep(~ending)
