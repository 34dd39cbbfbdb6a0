"""Mutual information of labellings with known classes: adjusted for chance, or normalised."""

from collections.abc import Callable
from functools import partial
from math import lgamma, log

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.agreement.contingency import compared, totals
from pipeline.core.entropies import EntropySums
from pipeline.core.exact_sums import sum_exactly
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import code_count

#: A count in a cell differs from its mean by more than so many roots of the smaller group with a
#: probability below 1e-21 (Hoeffding), so such counts add nothing to an expectation in float64.
FARTHEST = 5.0
#: Terms of expectations that are computed at once, to bound the memory.
TERMS_TOGETHER = 100_000


def adjusted_mutual_info(truth: ArrayLike, labels: ArrayLike) -> float | Float64Array:
    """Compute the information that labellings share with the true classes, corrected for chance.

    Parameters
    ----------
    truth, labels
        As for `adjusted_rand_index`.

    Returns
    -------
    float or ndarray, shape (r,)
        1 for equal partitions, about 0 for independent ones; one value for each labelling. It is
        normalised by the mean of both entropies, as in scikit-learn.

    Examples
    --------
    >>> adjusted_mutual_info(["a", "a", "b", "b"], [1, 1, 0, 0])
    1.0
    >>> adjusted_mutual_info([0, 0, 1, 1], [[0, 0, 1, 1], [0, 1, 0, 1]]).round(3).tolist()
    [1.0, -0.5]
    """
    return compared(truth, labels, _adjusted)


def normalised_mutual_info(truth: ArrayLike, labels: ArrayLike) -> float | Float64Array:
    """Compute the share of information that labellings have in common with the true classes.

    Parameters
    ----------
    truth, labels
        As for `adjusted_rand_index`.

    Returns
    -------
    float or ndarray, shape (r,)
        0 to 1, the mutual information over the mean of both entropies; one value for each
        labelling. It is not corrected for chance, so that more clusters have higher values.

    Examples
    --------
    >>> normalised_mutual_info([0, 0, 1, 1], [[0, 0, 1, 1], [0, 1, 0, 1]]).tolist()
    [1.0, 0.0]
    """
    return compared(truth, labels, _normalised)


def _adjusted(truth: IntArray) -> Callable[[IntArray], Float64Array]:
    sums, expected = EntropySums(truth.size), _ExpectedInformation(np.bincount(truth))

    def score(rows: IntArray) -> Float64Array:
        shared, mean, equal = _information(sums, truth, rows)
        by_chance = expected.of(_sizes(rows)) * truth.size
        most = mean - by_chance
        values = (shared - by_chance) / np.where(most > 0, most, np.inf)
        return np.where(equal, 1.0, np.clip(values, -1.0, 1.0))

    return score


def _normalised(truth: IntArray) -> Callable[[IntArray], Float64Array]:
    return partial(_shares, EntropySums(truth.size), truth)


def _shares(sums: EntropySums, truth: IntArray, rows: IntArray) -> Float64Array:
    shared, mean, equal = _information(sums, truth, rows)
    return np.where(equal, 1.0, np.minimum(shared / np.where(mean > 0, mean, 1.0), 1.0))


def _information(
    sums: EntropySums, truth: IntArray, rows: IntArray
) -> tuple[Float64Array, Float64Array, BoolArray]:
    """Return the mutual information, the mean entropy, both times n, and which rows are equal."""
    in_truth = sums(np.bincount(truth))
    in_cells, in_rows = totals(truth, rows, sums)
    shared = np.maximum((in_cells - in_truth) + (sums.largest - in_rows), 0.0)
    mean = ((sums.largest - in_truth) + (sums.largest - in_rows)) / 2
    return shared, mean, (in_cells == in_truth) & (in_cells == in_rows)


def _sizes(rows: IntArray) -> IntArray:
    clusters = code_count(rows)
    cells = clusters * np.arange(len(rows))[:, np.newaxis] + rows
    return np.bincount(cells.ravel(), minlength=len(rows) * clusters).reshape(len(rows), clusters)


class _ExpectedInformation:
    """The mutual information with classes of given sizes that random labellings have on average.

    A cluster adds to it by its size alone. So every size is computed once, and no bit depends on
    what is scored together.
    """

    def __init__(self, class_sizes: IntArray) -> None:
        self._n = int(class_sizes.sum())
        self._classes, self._repeats = np.unique(class_sizes[class_sizes > 0], return_counts=True)
        self._log_factorials = np.array([lgamma(count + 1) for count in range(self._n + 1)])
        self._of_size = np.full(self._n + 1, np.nan)
        self._of_size[0] = 0.0

    def of(self, sizes: IntArray) -> Float64Array:
        """Return the expected mutual information of labellings with clusters of sizes (r, k)."""
        wanted = np.unique(sizes)
        self._add(wanted[np.isnan(self._of_size[wanted])])
        return sum_exactly(self._of_size[sizes], log(max(self._n, 1)))

    def _add(self, sizes: IntArray) -> None:
        low, high = self._likely(sizes)
        terms = np.cumsum((high - low + 1).sum(axis=1))
        ends = np.flatnonzero(np.diff(terms // TERMS_TOGETHER)) + 1
        for some in np.split(np.arange(len(sizes)), ends):
            if some.size:
                self._of_size[sizes[some]] = self._computed(sizes[some], low[some], high[some])

    def _likely(self, sizes: IntArray) -> tuple[IntArray, IntArray]:
        """Return the least and the largest likely count, for each size and class."""
        a, b = self._classes, sizes[:, np.newaxis]
        mean, spread = a * b / self._n, FARTHEST * np.sqrt(np.minimum(a, b))
        low = np.maximum(np.maximum(1, a + b - self._n), np.ceil(mean - spread))
        high = np.minimum(np.minimum(a, b), np.floor(mean + spread))
        return low.astype(np.int64), high.astype(np.int64)

    def _computed(self, sizes: IntArray, low: IntArray, high: IntArray) -> Float64Array:
        n, logs, counts = self._n, self._log_factorials, (high - low + 1).ravel()
        ends = np.cumsum(counts)
        x = np.arange(ends[-1]) - np.repeat(ends - counts - low.ravel(), counts)
        a, b, repeats = (
            np.repeat(np.broadcast_to(each, low.shape).ravel(), counts)
            for each in (self._classes, sizes[:, np.newaxis], self._repeats)
        )
        probability = np.exp(
            (logs[a] + logs[b] + logs[n - a] + logs[n - b] - logs[n])
            - (logs[x] + logs[a - x] + logs[b - x] + logs[n - a - b + x])
        )
        terms = repeats * (x / n) * np.log(n * x / (a * b)) * probability
        first = np.concatenate([[0], np.cumsum((high - low + 1).sum(axis=1))[:-1]])
        return np.asarray(np.add.reduceat(terms, first), np.float64)
