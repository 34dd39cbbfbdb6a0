"""What lanes and their entities have while anomalous patterns are peeled off."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from pipeline.core.centres import CentreMethod, Minima
from pipeline.core.lanes.cycles import Hashes, PatternRounds, entity_hashes
from pipeline.core.lanes.estimates import in_float32, powers_in_float32, scales
from pipeline.core.minkowski import powers
from pipeline.core.segments import Groups
from pipeline.core.types import BoolArray, Float32Array, Float64Array, FloatArray, IntArray


class Members(NamedTuple):
    """Members of the patterns of all lanes: `columns` of entities, `sizes` of them in each lane."""

    columns: IntArray
    sizes: IntArray

    def of(self, lanes: BoolArray) -> IntArray:
        """Return the columns of the members in the chosen lanes."""
        return self.columns[np.repeat(lanes, self.sizes)]

    def mask(self, count: int) -> BoolArray:
        """Return which of `count` columns are those of members."""
        mask = np.zeros(count, dtype=np.bool_)
        mask[self.columns] = True
        return mask


@dataclass
class PatternLanes:
    """Lanes that still have entities, and the pattern that grows in each of them.

    Attributes
    ----------
    number
        Place of the lane among all lanes; (lanes,).
    p, scale
        Exponent, and unit of estimates in float32; (lanes,).
    centres
        Minkowski centre of all entities of the lane. It never moves; (m, lanes).
    counts, remaining
        Columns of the lane in `PatternEntities`, and how many are in no pattern yet; (lanes,).
    seeds
        Columns of the entities that the patterns started from; (lanes,).
    centroids, weights
        Of the growing patterns; (m, lanes).
    largest
        Sizes of the k largest patterns so far, in any order, 0 for those still to be found;
        (lanes, k).
    minima
        Where the dispersions of the growing patterns are least, as far as known; (m, lanes).
    rounds
        Rounds of the growing patterns.
    """

    number: IntArray
    p: Float64Array
    scale: Float64Array
    centres: FloatArray
    counts: IntArray
    remaining: IntArray
    seeds: IntArray
    centroids: FloatArray
    weights: Float64Array
    largest: IntArray
    minima: Minima
    rounds: PatternRounds

    @classmethod
    def of(cls, p: Float64Array, scale: Float64Array, centres: FloatArray, n: int, k: int) -> Self:
        """Return lanes of `n` entities each; their first patterns have yet to be started."""
        lanes, counts = len(p), np.full(len(p), n)
        return cls(
            number=np.arange(lanes),
            p=p,
            scale=scale,
            centres=centres,
            counts=counts,
            remaining=counts,
            seeds=n * np.arange(lanes),
            centroids=np.empty_like(centres),
            weights=np.empty(centres.shape),
            largest=np.zeros((lanes, k), dtype=np.int64),
            minima=Minima.unknown(centres),
            rounds=PatternRounds.none_yet(lanes),
        )

    @property
    def starts(self) -> IntArray:
        """First column of each lane."""
        return np.asarray(np.cumsum(self.counts) - self.counts)

    def count(self, columns: IntArray) -> IntArray:
        """Return how many of these columns, from left to right, belong to each lane."""
        ends = np.searchsorted(columns, np.cumsum(self.counts))
        return np.diff(ends, prepend=0)

    def count_patterns(self, complete: BoolArray, sizes: IntArray) -> None:
        """Note the sizes of complete patterns, and that their entities are gone."""
        found = np.where(complete, sizes, 0)
        self.remaining = self.remaining - found
        lanes, least = np.arange(len(found)), self.largest.argmin(axis=1)
        self.largest[lanes, least] = np.maximum(self.largest[lanes, least], found)

    @property
    def unfinished(self) -> BoolArray:
        """Whether a pattern that is yet to be found could be one of the lane's k largest.

        It would have to be larger than the least of them, because the one found first is kept.
        """
        return np.asarray(self.remaining > self.largest.min(axis=1))

    def keep(self, chosen: BoolArray) -> Self:
        """Return the chosen lanes, with columns for their remaining entities alone."""
        remaining = self.remaining[chosen]
        return type(self)(
            number=self.number[chosen],
            p=self.p[chosen],
            scale=self.scale[chosen],
            centres=np.compress(chosen, self.centres, axis=1),
            counts=remaining,
            remaining=remaining,
            seeds=np.cumsum(remaining) - remaining,  # the farthest entity left is the first
            centroids=np.compress(chosen, self.centroids, axis=1),
            weights=np.compress(chosen, self.weights, axis=1),
            largest=self.largest[chosen],
            minima=self.minima.keep(chosen),
            rounds=self.rounds.keep(chosen),
        )


@dataclass
class PatternEntities:
    """Entities as columns, lane by lane; in each lane the farthest from its centre comes first.

    Attributes
    ----------
    values
        The entities, in the precision of the run; (m, columns).
    estimates
        The entities in units of their lane's scale, which is 1 in float32: the same array as
        `values` then; (m, columns).
    to_centre
        The p-th powers of their differences from their lane's centre, in units of the scale's
        powers; (m, columns).
    entity_hashes
        Random numbers, whose sums tell member sets apart; (columns,).
    left
        Whether the entity is in no pattern yet; (columns,).
    member
        Whether the entity was a member of the growing pattern in its last round; (columns,).
    """

    values: FloatArray
    estimates: Float32Array
    to_centre: Float32Array
    entity_hashes: Hashes
    left: BoolArray
    member: BoolArray

    @classmethod
    def of(cls, X: FloatArray, p: Float64Array, scale: Float64Array, centres: FloatArray) -> Self:
        """Return all entities of `X` (m, lanes, n), the farthest of each lane first."""
        m, lanes, n = X.shape
        to_centre = X - centres[:, :, np.newaxis]
        powers(to_centre, p[:, np.newaxis].astype(X.dtype), out=to_centre)
        order = _farthest_first(to_centre)
        values = np.take(X.reshape(m, -1), order, axis=1)
        shares = powers_in_float32(to_centre, scale[:, np.newaxis], p[:, np.newaxis])
        return cls(
            values=values,
            estimates=in_float32(values, np.repeat(scale, n)),
            to_centre=np.take(shares.reshape(m, -1), order, axis=1),
            entity_hashes=np.tile(entity_hashes(n), lanes),
            left=np.ones(lanes * n, dtype=np.bool_),
            member=np.zeros(lanes * n, dtype=np.bool_),
        )

    @property
    def in_float32(self) -> bool:
        """Whether the run is in float32, whose values are their own estimates."""
        return self.values.dtype == np.float32

    def hashes(self, members: Members) -> Hashes:
        """Return the hash of each lane's members."""
        starts = np.cumsum(members.sizes) - members.sizes
        each = np.take(self.entity_hashes, members.columns)
        return np.asarray(np.add.reduceat(each, starts))

    def keep(self, chosen: BoolArray) -> Self:
        """Return the chosen entities."""
        columns = np.flatnonzero(chosen)
        estimates = np.take(self.estimates, columns, axis=1)
        return type(self)(
            values=estimates if self.in_float32 else np.take(self.values, columns, axis=1),
            estimates=estimates,
            to_centre=np.take(self.to_centre, columns, axis=1),
            entity_hashes=np.take(self.entity_hashes, columns),
            left=self.left[columns],
            member=self.member[columns],
        )


def begin(
    X: FloatArray, k: int, p: Float64Array, find_centres: CentreMethod
) -> tuple[PatternLanes, PatternEntities]:
    """Return all lanes of `X` (m, lanes, n) and their entities, before the first pattern."""
    m, lanes, n = X.shape
    whole = Groups(X.reshape(m, -1), np.full(lanes, n))
    centres, scale = find_centres(whole, p).centres, scales(X)
    return PatternLanes.of(p, scale, centres, n, k), PatternEntities.of(X, p, scale, centres)


def _farthest_first(to_centre: FloatArray) -> IntArray:
    """Return the order of all columns; on a tie the entity of the highest index comes first."""
    _, lanes, n = to_centre.shape
    nearest_first = np.argsort(to_centre.sum(axis=0), axis=1, kind="stable")
    return np.ravel(nearest_first[:, ::-1] + n * np.arange(lanes)[:, np.newaxis])
