"""The central partition: the labelling that agrees best with the others."""

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from pipeline.core.agreement.rand import index_of_pairs, pairs_in
from pipeline.core.errors import InvalidInputError
from pipeline.core.labellings import batches, memberships, sampled_rows
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import as_codes, as_labels, code_count

#: The largest number of references. It is prime, so that references at equal steps do not meet the
#: same p2 in every row of a grid.
MOST_REFERENCES = 199
#: Clusters of references that are compared at once, to bound the memory.
REFERENCE_CLUSTERS_TOGETHER = 4_096


def central_scores(
    labels: ArrayLike, seed: int | SeedSequence = 0, *, guests: ArrayLike | None = None
) -> Float64Array:
    """Compute how well each of many labellings agrees with the others, on average.

    Parameters
    ----------
    labels : array_like, shape (r, n)
        The labellings to compare with, in an order that spreads similar ones evenly: for a tile,
        those of imwk-means by p1, then those on rescaled data by p1 and p2.
    seed : int or numpy.random.SeedSequence
        Chooses the sample if there are more than 2,000 rows, as for `silhouette`.
    guests : array_like, shape (s, n), optional
        Further labellings that are rated, but that no others are compared with.

    Returns
    -------
    ndarray, shape (r + s,)
        The mean ARI with the references other than the labelling itself, 1 if there are none; the
        guests at the end. The references are all of `labels` or, of more than 199, those at 199
        evenly spread places. So another labelling changes the values of all.

    Examples
    --------
    >>> labels = [[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]
    >>> central_scores(labels).round(2).tolist()
    [0.25, 0.25, -0.5]
    >>> central_scores(labels[:2], guests=labels[2:]).round(2).tolist()
    [1.0, 1.0, -0.5]
    """
    given = _as_rows(labels, "labels")
    others = given[:0] if guests is None else _as_rows(guests, "guests")
    if others.shape[1] != given.shape[1]:
        raise InvalidInputError(
            f"guests have {others.shape[1]} rows of data, labels {given.shape[1]}. Give both of "
            "the same data."
        )
    every = np.concatenate([given, others])
    codes = as_codes(every[:, sampled_rows(every.shape[1], seed)])
    places = reference_places(len(given))
    own = np.bincount(places, minlength=len(codes))
    compared = len(places) - own
    sums = _indices(codes, codes[places], code_count(codes)).sum(axis=1)
    return np.where(compared > 0, (sums - own) / np.maximum(compared, 1), 1.0)


def _as_rows(labels: ArrayLike, name: str) -> NDArray[np.generic]:
    given = as_labels(labels, name)
    if given.ndim != 2:
        raise InvalidInputError(
            f"{name} have the shape {given.shape}. Give them as (r, n), a labelling in each row."
        )
    return given


def reference_places(count: int) -> IntArray:
    """Return which of `count` labellings are references: all, or some at evenly spread places.

    Examples
    --------
    >>> reference_places(3).tolist(), reference_places(398)[:3].tolist()
    ([0, 1, 2], [1, 3, 5])
    """
    number = min(count, MOST_REFERENCES)
    return (2 * np.arange(number) + 1) * count // max(2 * number, 1)


def _indices(labels: IntArray, references: IntArray, k: int) -> Float64Array:
    """Return the ARI of all labellings (rows) with all references (columns)."""
    found = np.zeros((len(labels), len(references)))
    together = max(1, REFERENCE_CLUSTERS_TOGETHER // k)
    for first in range(0, len(references), together):
        columns = slice(first, first + together)
        some = _References(references[columns], k)
        for rows in batches(labels, k):
            found[rows, columns] = some.indices(labels[rows])
    return found


class _References:
    """Some references, prepared for the comparison with all labellings."""

    def __init__(self, labels: IntArray, k: int) -> None:
        members = memberships(labels, k)  # (references, k, n)
        self._k, self._sizes = k, np.count_nonzero(members, axis=2)
        self._pairs = pairs_in(self._sizes)
        self._columns = members.reshape(-1, labels.shape[1]).T.astype(np.float32)

    def indices(self, labels: IntArray) -> Float64Array:
        """Return the ARI of labellings (r, n) with the references, (r, references)."""
        members = memberships(labels, self._k)
        pairs = pairs_in(np.count_nonzero(members, axis=2))
        together = self._pairs_together(members)
        return index_of_pairs(self._pairs, together, pairs[:, np.newaxis], labels.shape[1])

    def _pairs_together(self, members: BoolArray) -> IntArray:
        """Return how many ordered pairs both a labelling and a reference put together.

        Whole numbers up to the square of the number of rows, 4 million, are exact in float32. What
        the last cluster shares with references is what the others leave.
        """
        r, k, n = members.shape
        table = members[:, :-1].reshape(-1, n).astype(np.float32) @ self._columns
        table = table.reshape(r, k - 1, self._columns.shape[1])
        last = self._sizes.ravel() - table.sum(axis=1)
        squares = np.square(table, out=table).sum(axis=1) + np.square(last)
        return np.asarray(squares.reshape(r, -1, k).sum(axis=2), np.int64)
