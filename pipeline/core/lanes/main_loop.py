"""The main loop of imwk-means: assign, move centroids, weigh features; all lanes at once."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from pipeline.core.centres import CentreMethod, group_dispersions
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.lanes.cycles import MAX_ROUNDS, Hashes, entity_hashes
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
        )

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
        changed, lanes.labels = self._changed_clusters(labels), labels
        before = lanes.centroids.copy()
        self._move_centroids(changed)
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

    def _changed_clusters(self, labels: SmallLabels) -> BoolArray:
        """Return which clusters (lanes, k) won or lost members."""
        before = self.lanes.labels
        lane, entity = np.nonzero(labels != before)
        changed = np.zeros((len(labels), self.lanes.centroids.shape[2]), dtype=np.bool_)
        changed[lane, labels[lane, entity]] = True
        if self.round > 1:
            changed[lane, before[lane, entity]] = True
        return changed

    def _move_centroids(self, changed: BoolArray) -> None:
        """Find centres and dispersions of changed clusters; one with a single member stays."""
        lanes, k = changed.shape
        keys = (k * np.arange(lanes)[:, np.newaxis] + self.lanes.labels).ravel()
        sizes = np.bincount(keys, minlength=lanes * k)
        p = np.repeat(self.lanes.p, k)
        centroids, spreads = (
            part.reshape(len(part), -1) for part in (self.lanes.centroids, self.lanes.dispersions)
        )
        several, alone = changed.ravel() & (sizes > 1), changed.ravel() & (sizes == 1)
        spreads[:, changed.ravel()] = 0.0
        if several.any():
            members = self._members(keys, sizes, several)
            found = self.find_centres(members, p[several])
            centroids[:, several], spreads[:, several] = found
        if alone.any():
            members = self._members(keys, sizes, alone)
            stay = centroids[:, alone].astype(self.assignment.data.X.dtype)
            spreads[:, alone] = group_dispersions(members, stay, p[alone])

    def _members(self, keys: IntArray, sizes: IntArray, chosen: BoolArray) -> Groups:
        """Return the members of the chosen clusters, side by side.

        `keys` are the places in (lanes, k) of the entities' clusters; `sizes` and `chosen` are of
        all these places.
        """
        X = self.assignment.data.X
        columns = np.flatnonzero(chosen[keys])
        columns = columns[np.argsort(keys[columns].astype(_small(len(sizes))), kind="stable")]
        return Groups(np.take(X.reshape(len(X), -1), columns, axis=1), sizes[chosen])

    def _end(self, ending: BoolArray, converged: BoolArray) -> None:
        """Record the results of lanes that end, and drop them."""
        for lane in np.flatnonzero(ending).tolist():
            result = self.lanes.result(lane, self.round, bool(converged[lane]))
            self.results[int(self.lanes.number[lane])] = result
        self.assignment.keep(~ending)
        self.lanes = self.lanes.keep(~ending)


def _small(count: int) -> type[np.integer[Any]]:
    """Return the type for numbers below `count` that NumPy sorts fastest."""
    return np.int16 if count <= np.iinfo(np.int16).max else np.int64
