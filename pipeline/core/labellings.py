"""Labellings of one data set: check them, and rate some of them at a time."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.random import PCG64, Generator, SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import as_codes, as_labels, as_seed_sequence, code_count

#: Scores that compare rows with each other use a sample of this size if there are more rows.
MOST_ROWS = 2_000
#: Clusters, and labels, of all labellings that are scored at once: more would leave the cache.
CLUSTERS_TOGETHER, LABELS_TOGETHER = 256, 200_000

#: Rates labellings (r, n) of codes below the second argument.
ScoreOfCodes = Callable[[IntArray, int], Float64Array]


def scored(labels: ArrayLike, n: int, score: ScoreOfCodes) -> float | Float64Array:
    """Check labels of `n` entities, and score some labellings at a time."""
    given = as_labels(labels, "labels")
    if given.ndim not in (1, 2) or given.shape[-1] != n:
        raise InvalidInputError(
            f"labels have the shape {given.shape}. Give them as ({n},) or (r, {n}), one label for "
            "each row of X."
        )
    values = in_batches(as_codes(np.atleast_2d(given)), score)
    return float(values[0]) if given.ndim == 1 else values


def in_batches(codes: IntArray, score: ScoreOfCodes) -> Float64Array:
    """Score labellings (r, n), some at a time, so that memory stays bounded."""
    k, values = code_count(codes), np.zeros(len(codes))
    for some in batches(codes, k):
        values[some] = score(codes[some], k)
    return values


def batches(codes: IntArray, k: int) -> Iterator[slice]:
    """Yield which labellings (r, n) of `k` clusters are to be scored together."""
    together = max(1, min(CLUSTERS_TOGETHER // k, LABELS_TOGETHER // max(1, codes.shape[1])))
    for first in range(0, len(codes), together):
        yield slice(first, first + together)


def memberships(labels: IntArray, k: int) -> BoolArray:
    """Return which entities (last axis) are in which of `k` clusters, of labellings (r, n).

    Examples
    --------
    >>> memberships(np.array([[0, 1, 1]]), 2).astype(int).tolist()
    [[[1, 0, 0], [0, 1, 1]]]
    """
    return np.asarray(labels[:, np.newaxis] == np.arange(k)[:, np.newaxis])


def sampled_rows(n: int, seed: int | SeedSequence) -> IntArray:
    """Return the rows of `n` that a score of pairs uses: all of them, or a sample in order."""
    if n <= MOST_ROWS:
        return np.arange(n)
    stream = Generator(PCG64(as_seed_sequence(seed)))
    return np.sort(stream.choice(n, MOST_ROWS, replace=False))
