"""The main loop of imwk-means: assign, move centroids, weigh features; all lanes at once."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from pipeline.core.centres import group_dispersions
from pipeline.core.lanes.assignment import Assignment
from pipeline.core.lanes.patterns import MAX_ROUNDS, Start, marks
from pipeline.core.segments import CentreMethod, Groups
from pipeline.core.types import BoolArray, FloatArray, IntArray, SmallLabels
from pipeline.core.weights import cluster_weights


@dataclass(frozen=True, eq=False)
class ImwkResult:
    """What one run of imwk-means found.

    Attributes
    ----------
    labels : ndarray of int, shape (n,)
        Cluster of every entity: a row of `centroids`.
    centroids, weights : ndarray, shape (min(k, patterns), m)
        Minkowski centre and feature weights of every cluster; weights sum to 1.
    iterations : int
        Rounds of the main loop, the one that found the end among them.
    patterns : int
        Anomalous patterns that the initialisation found.
    n_clusters : int
        Clusters with members at the end: fewer than k if fewer patterns were found, or if a
        cluster lost all of its members.
    converged : bool
        Whether the labels are a fixed point. False where the run ended in a cycle of labellings
        or at the limit of rounds.
    """

    labels: IntArray
    centroids: FloatArray
    weights: FloatArray
    iterations: int
    patterns: int
    n_clusters: int
    converged: bool


def run_main_loop(
    X: FloatArray, p: FloatArray, start: Start, find_centres: CentreMethod
) -> list[ImwkResult]:
    """Run the main loop of all lanes of `X` (m, lanes, n) from where their patterns put them."""
    loop = _Loop(X, p, start, find_centres)
    while len(loop.lanes):
        loop.advance()
    return [loop.results[lane] for lane in range(X.shape[1])]


class _Loop:
    """The state of all lanes that have not ended; arrays over lanes shrink as lanes end."""

    def __init__(
        self, X: FloatArray, p: FloatArray, start: Start, find_centres: CentreMethod
    ) -> None:
        lanes, n = X.shape[1:]
        self.p, self.find_centres = p, find_centres
        self.lanes, self.round = np.arange(lanes), 0
        self.clusters, self.patterns = start.clusters, start.patterns
        self.centroids, self.weights = start.centroids, start.weights
        self.dispersions = np.zeros_like(self.centroids)
        self.labels: SmallLabels = np.full((lanes, n), -1)
        self.history = np.zeros((lanes, 0), dtype=np.uint64)
        self.marks = marks(n)
        self.assignment = Assignment(X, p, start.clusters, self.centroids.shape[2])
        self.results: dict[int, ImwkResult] = {}

    def advance(self) -> None:
        """Let every lane go through one round."""
        self.round += 1
        labels = self.assignment.update(self.centroids, self.weights)
        hashes = (labels.astype(np.uint64) * self.marks).sum(axis=1)
        seen_before = (self.history == hashes[:, np.newaxis]).any(axis=1)
        if seen_before.any():
            stable = (labels == self.labels).all(axis=1)
            self._end(seen_before, converged=stable)
            labels, hashes = labels[~seen_before], hashes[~seen_before]
        self.history = np.column_stack([self.history, hashes])
        if len(self.lanes):
            self._update(labels)

    def _update(self, labels: SmallLabels) -> None:
        changed = self._changed_clusters(labels)
        self.labels = labels
        before = self.centroids.copy()
        self._move_centroids(changed)
        # In round 1 the centroids are the patterns', whose weights have another smoothing: the
        # published figures need these weights replaced even where no centroid moves.
        still = (self.centroids == before).all(axis=(0, 2)) & (self.round > 1)
        moving = ~still
        self.weights[:, moving] = cluster_weights(
            self.dispersions[:, moving], self.clusters[moving], self.p[moving]
        )
        ending = still | (self.round == MAX_ROUNDS)
        if ending.any():
            self._end(ending, converged=still)

    def _changed_clusters(self, labels: SmallLabels) -> BoolArray:
        """Return which clusters (lanes, k) won or lost members."""
        lane, entity = np.nonzero(labels != self.labels)
        changed = np.zeros((len(labels), self.centroids.shape[2]), dtype=np.bool_)
        changed[lane, labels[lane, entity]] = True
        if self.round > 1:
            changed[lane, self.labels[lane, entity]] = True
        return changed

    def _move_centroids(self, changed: BoolArray) -> None:
        """Find centres and dispersions of changed clusters; one with a single member stays."""
        lanes, k = changed.shape
        keys = (k * np.arange(lanes)[:, np.newaxis] + self.labels).ravel()
        sizes = np.bincount(keys, minlength=lanes * k)
        p = np.repeat(self.p, k)
        centroids, spreads = (
            part.reshape(len(part), -1) for part in (self.centroids, self.dispersions)
        )
        several, alone = changed.ravel() & (sizes > 1), changed.ravel() & (sizes == 1)
        spreads[:, changed.ravel()] = 0.0
        if several.any():
            members = self._members(keys, sizes, several)
            found = self.find_centres(members, p[several])
            centroids[:, several], spreads[:, several] = found
        if alone.any():
            members = self._members(keys, sizes, alone)
            stay = centroids[:, alone].astype(self.assignment.X.dtype)
            spreads[:, alone] = group_dispersions(members, stay, p[alone])

    def _members(self, keys: IntArray, sizes: IntArray, chosen: BoolArray) -> Groups:
        """Return the members of the chosen clusters, side by side."""
        X = self.assignment.X
        columns = np.flatnonzero(chosen[keys])
        columns = columns[np.argsort(keys[columns].astype(_small(len(sizes))), kind="stable")]
        return Groups(np.take(X.reshape(len(X), -1), columns, axis=1), sizes[chosen])

    def _end(self, ending: BoolArray, converged: BoolArray) -> None:
        """Record the results of lanes that end, and drop them."""
        for lane in np.flatnonzero(ending):
            clusters, labels = self.clusters[lane], self.labels[lane].astype(np.int64)
            self.results[int(self.lanes[lane])] = ImwkResult(
                labels,
                self.centroids[:, lane, :clusters].T.copy(),
                self.weights[:, lane, :clusters].T.copy(),
                self.round,
                int(self.patterns[lane]),
                len(np.unique(labels)),
                bool(converged[lane]),
            )
        going = ~ending
        self.assignment.keep(going)
        for name in ("lanes", "p", "clusters", "patterns", "labels", "history"):
            setattr(self, name, getattr(self, name)[going])
        for name in ("centroids", "weights", "dispersions"):
            setattr(self, name, np.compress(going, getattr(self, name), axis=1))


def _small(count: int) -> type[np.integer[Any]]:
    """Return the type for numbers below `count` that NumPy sorts fastest."""
    return np.int16 if count <= np.iinfo(np.int16).max else np.int64
