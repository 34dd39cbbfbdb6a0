"""Anomalous patterns: where imwk-means starts, found without any random choice.

All lanes grow one pattern each at the same time; a lane whose pattern is complete goes on with
its next one, so every round of NumPy calls serves all lanes that still have entities left.
"""

from dataclasses import dataclass

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from pipeline.core.lanes.estimates import (
    in_float32,
    open_margins,
    powers_in_float32,
    rough_exponents,
    scales,
)
from pipeline.core.minkowski import power, powers, weighted_powers, weighted_sum
from pipeline.core.segments import CentreMethod, Groups, blocks_of
from pipeline.core.types import BoolArray, FloatArray, IntArray
from pipeline.core.weights import pattern_weights

#: Of a pattern, and of the main loop.
MAX_ROUNDS = 500
#: Entities of finished patterns are dropped from the arrays when less than this share is left.
WORTH_KEEPING = 0.9


@dataclass(frozen=True)
class Start:
    """Where the main loop of every lane starts: the lane's `k` largest patterns.

    `centroids` and `weights` are (m, lanes, k), `clusters` how many of the k a lane has, and
    `patterns` how many it found.
    """

    centroids: FloatArray
    weights: FloatArray
    clusters: IntArray
    patterns: IntArray


def anomalous_patterns(X: FloatArray, k: int, p: FloatArray, find_centres: CentreMethod) -> Start:
    """Peel patterns off all lanes of `X` (m, lanes, n), and keep the `k` largest of each lane."""
    hunt = _Hunt(X, p, find_centres)
    while len(hunt.lanes):
        hunt.advance()
    return hunt.largest(k)


class _Hunt:
    """The search of all lanes, one round of each at a time.

    The entities of a lane lie side by side, farthest from the lane's centre first: the first one
    left is the seed of the next pattern. Lanes without entities are dropped.
    """

    def __init__(self, X: FloatArray, p: FloatArray, find_centres: CentreMethod) -> None:
        m, lanes, n = X.shape
        flat, counts = X.reshape(m, -1), np.full(lanes, n)
        self.find_centres = find_centres
        self.centres = find_centres(Groups(flat, counts), p).centres
        to_centre = X - self.centres[:, :, np.newaxis]
        powers(to_centre, p[:, np.newaxis].astype(X.dtype), out=to_centre)
        nearest_first = np.argsort(to_centre.sum(axis=0), axis=1, kind="stable")
        order = (nearest_first[:, ::-1] + n * np.arange(lanes)[:, np.newaxis]).ravel()
        self.entities = np.take(flat, order, axis=1)
        self.scale = scales(X)
        self.rough = in_float32(self.entities, np.repeat(self.scale, n))
        shares = powers_in_float32(to_centre, self.scale[:, np.newaxis], p[:, np.newaxis])
        self.rough_to_centre = np.take(shares.reshape(m, -1), order, axis=1)
        self.marks = np.tile(marks(n), lanes)
        self.left = np.ones(lanes * n, dtype=np.bool_)
        self.lanes, self.p, self.counts, self.remaining = np.arange(lanes), p, counts, counts
        self.centroids = np.empty((m, lanes), dtype=X.dtype)
        self.weights = np.empty((m, lanes))
        self.rounds, self.last_round = np.zeros((2, lanes), dtype=np.int64)
        self.history = np.zeros((lanes, 8), dtype=np.uint64)
        self.hashes = np.zeros(lanes, dtype=np.uint64)
        self.found: list[tuple[IntArray, IntArray, FloatArray, FloatArray]] = []
        self._sow(np.ones(lanes, dtype=np.bool_))

    @property
    def starts(self) -> IntArray:
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def advance(self) -> None:
        """Let every lane go through one round of its pattern."""
        members, sizes = self._nearer_than_centre()
        hashes = np.add.reduceat(np.take(self.marks, members), np.cumsum(sizes) - sizes)
        growing, self.hashes = hashes != self.hashes, hashes
        self._cut_cycles()
        if growing.any():
            chosen = members[np.repeat(growing, sizes)]
            group = Groups(np.take(self.entities, chosen, axis=1), sizes[growing])
            centres, dispersions = self.find_centres(group, self.p[growing])
            moved = (centres != self.centroids[:, growing]).any(axis=0)
            growing[growing] = moved
            self.centroids[:, growing] = centres[:, moved]
            self.weights[:, growing] = pattern_weights(dispersions[:, moved], self.p[growing])
        self.rounds += 1
        self._harvest(~growing | (self.rounds >= self.last_round), members, sizes)

    def _nearer_than_centre(self) -> tuple[IntArray, IntArray]:
        """Return the columns of entities nearer to their lane's pattern than to its centre.

        And how many there are in each lane: the seed alone where there is none.
        """
        nearer, open_ = np.empty((2, len(self.left)), dtype=np.bool_)
        for lanes, some in blocks_of(self.counts):
            nearer[some], open_[some] = self._estimate(lanes, some)
        nearer &= self.left
        columns = np.flatnonzero(open_ & self.left)
        if len(columns):
            nearer[columns] = self._decide(columns)
        members = np.flatnonzero(nearer)
        sizes = self._count(members)
        if not sizes.all():
            nearer[self.seeds[sizes == 0]] = True
            members = np.flatnonzero(nearer)
        return members, np.maximum(sizes, 1)

    def _count(self, columns: IntArray) -> IntArray:
        """Return how many of these columns, from left to right, belong to each lane."""
        ends = np.searchsorted(columns, np.cumsum(self.counts))
        return np.diff(ends, prepend=0)

    def _estimate(self, lanes: slice, some: slice) -> tuple[BoolArray, BoolArray]:
        """Return which entities are nearer for sure, and which are open."""
        p, counts = self.p[lanes], self.counts[lanes]
        w = power(self.weights[:, lanes], p).astype(self.rough.dtype)
        z = (self.centroids[:, lanes] / self.scale[lanes]).astype(self.rough.dtype)
        if self.rough is self.entities:  # nothing is more exact
            to_centre = self.rough_to_centre[:, some]
            lag = weighted_powers(self.rough, some, z, w, p, counts, minus=to_centre)
            return lag < 0, np.zeros_like(self.left[some])
        to_pattern = weighted_powers(self.rough, some, z, w, rough_exponents(p), counts)
        to_centre = weighted_sum(self.rough_to_centre, some, w, counts)
        relative, absolute = (np.repeat(margin, counts) for margin in open_margins(p, w))
        lead = to_centre - to_pattern
        clear = np.abs(lead) > relative * (to_centre + to_pattern) + absolute
        return clear & (lead > 0), ~clear

    def _decide(self, columns: IntArray) -> BoolArray:
        """Return exactly which of these entities are nearer."""
        counts = self._count(columns)
        lanes = np.flatnonzero(counts)
        p, counts, dtype = self.p[lanes], counts[lanes], self.entities.dtype
        w = power(self.weights[:, lanes], p).astype(dtype)
        to_pattern, to_centre = (
            weighted_powers(self.entities, columns, points[:, lanes], w, p, counts)
            for points in (self.centroids, self.centres)
        )
        return to_pattern < to_centre

    def _cut_cycles(self) -> None:
        """Set the last round of lanes whose members were met before.

        What follows a member set depends on that set alone, so the rounds repeat with a fixed
        period, and the outcome of the last round allowed is known some rounds from here.
        """
        again = self.history == self.hashes[:, np.newaxis]
        cycling = np.flatnonzero(again.any(axis=1))
        now, first = self.rounds[cycling] + 1, again[cycling].argmax(axis=1) + 1
        self.last_round[cycling] = now + (MAX_ROUNDS - now) % (now - first)
        if self.rounds.max() == self.history.shape[1]:
            self.history = np.pad(self.history, ((0, 0), (0, self.history.shape[1])))
        self.history[np.arange(len(self.hashes)), self.rounds] = self.hashes

    def _harvest(self, done: BoolArray, members: IntArray, sizes: IntArray) -> None:
        """Record the patterns of lanes that are done, and start their next ones."""
        if not done.any():
            return
        found = self.lanes[done], sizes[done], self.centroids[:, done], self.weights[:, done]
        self.found.append(found)
        self.left[members[np.repeat(done, sizes)]] = False
        self.remaining = self.remaining - np.where(done, sizes, 0)
        if not self.remaining.all() or self.remaining.sum() < WORTH_KEEPING * len(self.left):
            done = self._compact(done)
        if done.any():
            self._sow(done)

    def _compact(self, done: BoolArray) -> BoolArray:
        """Drop entities of finished patterns and lanes without entities; return `done` likewise."""
        columns, alive = np.flatnonzero(self.left), self.remaining > 0
        entities, rough = self.entities, self.rough
        for name in ("entities", "rough_to_centre", "marks"):
            setattr(self, name, np.take(getattr(self, name), columns, axis=-1))
        self.rough = self.entities if rough is entities else np.take(rough, columns, axis=1)
        for name in (
            "lanes",
            "p",
            "centres",
            "scale",
            "centroids",
            "weights",
            "remaining",
            "hashes",
            "rounds",
            "last_round",
        ):
            setattr(self, name, np.compress(alive, getattr(self, name), axis=-1))
        self.history, self.counts = self.history[alive], self.remaining
        self.left = np.ones(len(columns), dtype=np.bool_)
        self.seeds = self.starts  # every entity is left, the farthest first
        return done[alive]

    def _sow(self, lanes: BoolArray) -> None:
        """Start a new pattern in the given lanes: the farthest entity left, with equal weights."""
        left = np.flatnonzero(self.left)
        self.seeds = left[np.searchsorted(left, self.starts)]
        self.centroids[:, lanes] = self.entities[:, self.seeds[lanes]]
        self.weights[:, lanes] = 1 / len(self.weights)
        self.rounds[lanes], self.last_round[lanes] = 0, MAX_ROUNDS
        self.history[lanes], self.hashes[lanes] = 0, 0

    def largest(self, k: int) -> Start:
        """Return the `k` patterns of each lane with most members, the one found first on a tie."""
        lanes, sizes = (np.concatenate(part) for part in list(zip(*self.found, strict=True))[:2])
        centroids, weights = (
            np.concatenate(part, axis=1) for part in list(zip(*self.found, strict=True))[2:]
        )
        order = np.lexsort((-sizes, lanes))
        patterns = np.bincount(lanes)
        rank = np.arange(len(lanes)) - np.repeat(np.cumsum(patterns) - patterns, patterns)
        kept, rank = order[rank < k], rank[rank < k]
        start = np.zeros((2, len(centroids), len(patterns), k))
        start[0][:, lanes[kept], rank] = centroids[:, kept]
        start[1][:, lanes[kept], rank] = weights[:, kept]
        return Start(start[0], start[1], np.minimum(patterns, k), patterns)


def marks(n: int) -> NDArray[np.uint64]:
    """Return random marks of entities, whose sums tell member sets and labellings apart."""
    return default_rng(0).integers(1, 2**64, size=n, dtype=np.uint64)
