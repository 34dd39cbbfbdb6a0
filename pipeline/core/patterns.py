"""Anomalous patterns: where imwk-means starts, found without any random choice."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pipeline.core.centres import CentreMethod
from pipeline.core.minkowski import dispersions, distances, powers, weigh
from pipeline.core.validation import FloatArray
from pipeline.core.weights import pattern_weights

MAX_ROUNDS = 500

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Pattern:
    """A group of entities that are nearer to their own centre than to that of the whole data."""

    members: BoolArray
    centroid: FloatArray
    weights: FloatArray


def anomalous_patterns(X: FloatArray, p: float, centre: CentreMethod) -> list[Pattern]:
    """Peel patterns off `X`, each grown from the entity farthest from the centre of all data.

    A pattern's `members` are relative to the entities that were left when it was found.
    """
    left = X
    left_to_centre = powers(X - centre(X, p), p)
    patterns = []
    while len(left):
        pattern = _grow(left, left_to_centre, p, centre)
        patterns.append(pattern)
        left, left_to_centre = left[~pattern.members], left_to_centre[~pattern.members]
    return patterns


def largest(patterns: list[Pattern], k: int) -> list[Pattern]:
    """Return the `k` patterns with most members, the one found first on a tie."""
    return sorted(patterns, key=lambda pattern: -np.count_nonzero(pattern.members))[:k]


def _grow(X: FloatArray, to_centre: FloatArray, p: float, centre: CentreMethod) -> Pattern:
    equal = np.full(X.shape[1], 1 / X.shape[1])
    seed = _last_argmax(weigh(to_centre, equal, p))
    pattern = Pattern(_only(seed, len(X)), X[seed], equal)
    rounds: list[Pattern] = []
    met: dict[bytes, int] = {}
    while len(rounds) < MAX_ROUNDS:
        members = _members(X, to_centre, pattern, p)
        if not members.any():
            members = _only(seed, len(X))
        key = np.packbits(members).tobytes()
        if key in met:
            return rounds[_round_at_limit(met[key], len(rounds))]
        centroid = centre(X[members], p)
        if np.array_equal(centroid, pattern.centroid):
            return Pattern(members, centroid, pattern.weights)
        spread = dispersions(X[members], centroid, p)
        pattern = Pattern(members, centroid, pattern_weights(spread, p))
        met[key] = len(rounds)
        rounds.append(pattern)
    return pattern


def _members(X: FloatArray, to_centre: FloatArray, pattern: Pattern, p: float) -> BoolArray:
    nearer = distances(X, pattern.centroid, pattern.weights, p)
    return np.asarray(nearer < weigh(to_centre, pattern.weights, p))


def _round_at_limit(first: int, again: int) -> int:
    """Return which earlier round equals the last one allowed, where round `again` repeats `first`.

    What follows a member set depends on that set alone, so the rounds repeat with a fixed period.
    Members that repeat at once have settled: the period is 1 and the outcome is round `first`.
    """
    return first + (MAX_ROUNDS - 1 - first) % (again - first)


def _last_argmax(values: FloatArray) -> int:
    return len(values) - 1 - int(values[::-1].argmax())


def _only(index: int, length: int) -> BoolArray:
    members = np.zeros(length, dtype=np.bool_)
    members[index] = True
    return members
