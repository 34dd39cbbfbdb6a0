"""The score `info`: what the features tell about the labels, less the entropy of the labels."""

from collections.abc import Sequence
from math import log1p
from statistics import NormalDist

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike

from pipeline.core.entropies import EntropySums
from pipeline.core.exact_sums import sum_exactly, unit_for
from pipeline.core.labellings import memberships, sampled_rows, scored
from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_matrix

#: A feature with at most this many different values is discrete.
MOST_VALUES = 10
#: So many entities with the variance of all are added to each cluster. Otherwise a few members
#: that happen to be equal would seem to tell everything.
PRIOR = 10.0


def info_score(
    X: ArrayLike, labels: ArrayLike, seed: int | SeedSequence = 0
) -> float | Float64Array:
    """Compute how much the features tell about labels, less the entropy of the labels.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns, not normalised: only the order of the values of a
        feature matters, and rounding could make different values equal.
    labels : array_like, shape (n,) or (r, n)
        One labelling, or `r` of them in rows: numbers or strings.
    seed : int or numpy.random.SeedSequence
        Chooses the sample if there are more than 2,000 rows, the same for all labellings.

    Returns
    -------
    float or ndarray, shape (r,)
        In nats, higher is better, about 0 for a single cluster; one value for each labelling.

    Notes
    -----
    The mutual information with the labels is added up over features, as if they were independent
    within clusters. Features with more than 10 different values are replaced by the normal
    quantiles of their ranks, and taken as normal within clusters; the others are discrete.

    Examples
    --------
    >>> X = np.column_stack([np.arange(40.0), np.repeat([0.0, 1.0], 20)])
    >>> halves, parity = np.repeat([0, 1], 20), np.arange(40) % 2
    >>> info_score(X, [halves, parity]).round(2).tolist()
    [0.27, -0.7]
    """
    return InfoScores(X, seed).of(labels)


class InfoScores:
    """The features of `X`, prepared for the scores of all labellings.

    All sums over entities and clusters are exact, so that no bit depends on how a matrix product
    adds, on what is scored together, or on the names of clusters.
    """

    def __init__(self, X: ArrayLike, seed: int | SeedSequence = 0) -> None:
        matrix = as_matrix(X)
        self.entities = len(matrix)
        self.rows = sampled_rows(len(matrix), seed)
        features = [_Ranked(column) for column in matrix[self.rows].T]
        continuous = [feature for feature in features if len(feature.counts) > MOST_VALUES]
        discrete = [feature for feature in features if len(feature.counts) <= MOST_VALUES]
        self._entropies = EntropySums(len(self.rows))
        self._parts = (
            _Continuous(continuous, len(self.rows)),
            _Discrete(discrete, len(self.rows), self._entropies),
        )

    def of(self, labels: ArrayLike) -> float | Float64Array:
        """Return the score of one labelling (n,), or those of many (r, n).

        Examples
        --------
        >>> InfoScores([[0.0], [0.0], [1.0], [1.0]]).of([["a", "a", "b", "b"]])
        array([-0.125])
        """
        return scored(labels, self.entities, lambda some, k: self._scores(some[:, self.rows], k))

    def _scores(self, labels: IntArray, k: int) -> Float64Array:
        members = memberships(labels, k)  # (r, k, n)
        sizes = np.count_nonzero(members, axis=2)
        n = labels.shape[1]
        flat = members.reshape(-1, n).astype(np.float64)
        found: Float64Array = (self._entropies(sizes) - self._entropies.largest) / n
        for part in self._parts:
            found += part.information((flat @ part.columns).reshape(*sizes.shape, -1), sizes)
        return found


class _Ranked:
    """A feature as ranks: which of its values each entity has, and how often each occurs."""

    def __init__(self, feature: Float64Array) -> None:
        _, self.codes, self.counts = np.unique(feature, return_inverse=True, return_counts=True)


class _Continuous:
    """Continuous features: the normal quantiles of their ranks and the squares, in exact units."""

    def __init__(self, features: Sequence[_Ranked], n: int) -> None:
        values = _normal_quantiles(features, n)
        both = np.hstack([values, np.square(values)])
        self._units = unit_for(np.abs(both).sum(axis=0))
        self.columns = np.rint(both / self._units)

    def information(self, sums: Float64Array, sizes: IntArray) -> Float64Array:
        """Return what the features tell, from the sums of their columns in clusters (r, k)."""
        n, members = len(self.columns), sizes[:, :, np.newaxis]
        values, squares = np.split(sums * self._units, 2, axis=2)
        spreads = np.maximum(squares - np.square(values) / np.maximum(members, 1), 0.0)
        logs = np.log((spreads + PRIOR) / (members + PRIOR))
        most = logs.shape[2] * log1p(n / PRIOR)  # no variance is further from 1
        return -sum_exactly((members / n * logs).reshape(len(logs), -1), most) / 2


class _Discrete:
    """Discrete features: which entities have which value, and how often each value occurs."""

    def __init__(self, features: Sequence[_Ranked], n: int, entropies: EntropySums) -> None:
        values = [
            feature.codes[:, np.newaxis] == range(len(feature.counts)) for feature in features
        ]
        self.columns = np.hstack([np.zeros((n, 0)), *values])
        self._features, self._entropies = len(features), entropies
        self._in_values = sum(float(entropies(feature.counts)) for feature in features)

    def information(self, sums: Float64Array, sizes: IntArray) -> Float64Array:
        """Return what the features tell, from the counts of their values in clusters (r, k).

        Each mutual information is reduced by its mean for independent labels, for large n.
        """
        n, entropies, count = len(self.columns), self._entropies, self._features
        in_cells = entropies(sums.astype(np.int64).reshape(len(sums), -1), count)
        found = (in_cells - self._in_values) + count * (entropies.largest - entropies(sizes))
        by_chance = (self.columns.shape[1] - count) * (np.count_nonzero(sizes, axis=1) - 1) / 2
        return np.asarray((found - by_chance) / n, np.float64)


def _normal_quantiles(features: Sequence[_Ranked], n: int) -> Float64Array:
    """Return the normal quantiles of ranks, ties averaged, with mean 0 and variance 1."""
    if not features:
        return np.zeros((n, 0))
    # Twice the rank, less 1, of each value: (rank - 1/2) / n is half of it over n
    places = [2 * np.cumsum(feature.counts) - feature.counts for feature in features]
    quantile, quantiles = NormalDist().inv_cdf, np.zeros(2 * n)
    needed = np.unique(np.concatenate(places))
    quantiles[needed] = [quantile(place / (2 * n)) for place in needed.tolist()]
    columns = [
        quantiles[place][feature.codes] for place, feature in zip(places, features, strict=True)
    ]
    return np.column_stack([_standardised(column) for column in columns])


def _standardised(column: Float64Array) -> Float64Array:
    centred = column - column.mean()
    return np.asarray(centred / np.sqrt(np.square(centred).mean()), np.float64)
