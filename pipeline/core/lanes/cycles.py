"""Cycles: how member sets and labellings that return are recognised, and how cycles are cut short.

A member set or a labelling is known by its hash: a sum of random numbers, one for each entity.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.random import default_rng
from numpy.typing import NDArray

from pipeline.core.types import BoolArray, IntArray

#: Limit of the rounds of a pattern, and of the main loop.
MAX_ROUNDS = 500

#: Hashes of entities, and sums of them modulo 2 ** 64.
Hashes = NDArray[np.uint64]


def entity_hashes(n: int) -> Hashes:
    """Return random numbers for `n` entities, whose sums tell member sets and labellings apart."""
    return default_rng(0).integers(1, 2**64, size=n, dtype=np.uint64)


@dataclass
class PatternRounds:
    """How far the pattern of each lane has come.

    Attributes
    ----------
    done, last
        Rounds that are over, and the round that will be the last at the latest; (lanes,).
    hashes
        Hashes of the members of the last round, 0 before the first; (lanes,).
    history
        Hashes of the members of all rounds, 0 for rounds to come; (lanes, at least the rounds).
    """

    done: IntArray
    last: IntArray
    hashes: Hashes
    history: Hashes

    @classmethod
    def none_yet(cls, lanes: int) -> Self:
        """Return the state of `lanes` before their first round."""
        done, last = np.zeros(lanes, dtype=np.int64), np.full(lanes, MAX_ROUNDS)
        return cls(done, last, np.zeros(lanes, np.uint64), np.zeros((lanes, 8), np.uint64))

    def keep(self, chosen: BoolArray) -> Self:
        """Return the chosen lanes."""
        return type(self)(
            self.done[chosen], self.last[chosen], self.hashes[chosen], self.history[chosen]
        )

    def restart(self, lanes: BoolArray) -> None:
        """Begin a new pattern in the given lanes."""
        self.done[lanes], self.last[lanes] = 0, MAX_ROUNDS
        self.hashes[lanes], self.history[lanes] = 0, 0

    def enter(self, hashes: Hashes) -> BoolArray:
        """Add a round with the members of these hashes; return where they are not the last ones."""
        changed = np.asarray(hashes != self.hashes)
        self._cut_cycles(hashes)
        if self.done.max() == self.history.shape[1]:
            self.history = np.pad(self.history, ((0, 0), (0, self.history.shape[1])))
        self.history[np.arange(len(hashes)), self.done] = hashes
        self.hashes = hashes
        self.done += 1
        return changed

    @property
    def at_end(self) -> BoolArray:
        """Whether each lane has gone through its last round."""
        return np.asarray(self.done >= self.last)

    def _cut_cycles(self, hashes: Hashes) -> None:
        """Set the last round of lanes whose members were met before."""
        again = self.history == hashes[:, np.newaxis]
        cycling = np.flatnonzero(again.any(axis=1))
        now, first = self.done[cycling] + 1, again[cycling].argmax(axis=1) + 1
        self.last[cycling] = last_round(first, now)


def last_round(first: IntArray, now: IntArray) -> IntArray:
    """Return the round at which to end if the members of round `now` are those of round `first`.

    What follows a member set depends on that set alone, so the rounds repeat with the period
    ``now - first``. The first round from `now` on that has the members of round `MAX_ROUNDS` is ::

        now + (MAX_ROUNDS - now) mod (now - first)

    Examples
    --------
    The members of rounds 1 to 5 are A, B, C, D, C. Then they are D in all even rounds, also in
    round 500. Round 6 is the next of these.

    >>> import numpy as np
    >>> last_round(first=np.array([3]), now=np.array([5])).tolist()
    [6]
    """
    return now + (MAX_ROUNDS - now) % (now - first)
