"""Intelligent Minkowski weighted k-means: the public functions, and how runs are put in lanes."""

from collections.abc import Iterable, Sequence
from math import ceil

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.centres import CENTRES, centre_method
from pipeline.core.errors import InvalidInputError
from pipeline.core.lanes.main_loop import ImwkResult, run_main_loop
from pipeline.core.lanes.patterns import anomalous_patterns
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import CentreMethod
from pipeline.core.types import FloatArray
from pipeline.core.validation import (
    as_choice,
    as_cluster_count,
    as_exponents,
    as_matrix,
    refuse_unfit_powers,
)

#: Lanes run together that have about this many cells of data: more would need more memory than
#: they save calls.
CELLS_TOGETHER = 2_000_000

Precision = type[np.float64] | type[np.float32]
DTYPES: dict[str, Precision] = {"float64": np.float64, "float32": np.float32}


def imwk(
    X: ArrayLike, k: int, p: float, centre: str = "exact", dtype: str = "float64"
) -> ImwkResult:
    """Cluster `X` by intelligent Minkowski weighted k-means. Deterministic.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns; normalise them first.
    k : int
        Number of clusters, 1 to n. Fewer are formed if fewer anomalous patterns exist.
    p : float
        Minkowski exponent, at least 1. It weighs the features too: near 1 a cluster relies on
        few features, for large p on all alike.
    centre : {"exact", "fixed-step"}
        How centres are found; ``fixed-step`` repeats the published figures on real data.
    dtype : {"float64", "float32"}
        Precision of the data and their powers. float32 is faster; its exact centres are good to
        1e-3 of a feature's range, most to 1e-5.

    Returns
    -------
    ImwkResult
        Labels, centroids, weights and how the run went.

    Examples
    --------
    >>> X = [[0.0, 0.3], [0.1, 0.9], [0.9, 0.1], [1.0, 0.8], [1.1, 0.2], [-0.1, 0.5]]
    >>> result = imwk(X, k=2, p=1.5)
    >>> result.labels.tolist()
    [1, 1, 0, 0, 0, 1]
    >>> bool((result.weights[:, 0] > result.weights[:, 1]).all())
    True
    """
    return imwk_many(X, k, [p], centre, dtype)[0]


def imwk_many(
    X: ArrayLike, k: int, ps: Iterable[float], centre: str = "exact", dtype: str = "float64"
) -> list[ImwkResult]:
    """Run `imwk` once for each exponent in `ps`.

    Parameters
    ----------
    X, k, centre, dtype
        As for `imwk`.
    ps : iterable of float
        Minkowski exponents, each at least 1.

    Returns
    -------
    list of ImwkResult
        One for each exponent, in their order; each equals that of `imwk` alone, bit for bit.

    Examples
    --------
    >>> [run.n_clusters for run in imwk_many([[0.0], [0.1], [5.0], [5.1]], k=2, ps=[1.5, 2, 3])]
    [2, 2, 2]
    """
    return imwk_grid([as_matrix(X)], k, ps, centre, dtype)[0]


def imwk_grid(
    Xs: Sequence[ArrayLike],
    k: int,
    ps: Iterable[float],
    centre: str = "exact",
    dtype: str = "float64",
) -> list[list[ImwkResult]]:
    """Run `imwk` for every data set in `Xs`, all of one shape, and every exponent in `ps`.

    Parameters
    ----------
    Xs : sequence of array_like, each of shape (n, m)
        Data sets, such as one rescaled with several exponents p1.
    k, ps, centre, dtype
        As for `imwk_many`.

    Returns
    -------
    list of list of ImwkResult
        A list for each data set with a result for each exponent; each equals that of `imwk` alone,
        bit for bit.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> grid = imwk_grid([X, X], k=2, ps=[1.5, 2, 3])
    >>> len(grid), len(grid[0])
    (2, 3)
    """
    matrices = [as_matrix(X) for X in Xs]
    exponents = as_exponents(ps)
    precision = DTYPES[as_choice(dtype, "dtype", DTYPES)]
    _refuse_other_shapes(matrices)
    for matrix in matrices:
        as_cluster_count(k, len(matrix))
        centre_method(centre, matrix)
        if exponents:  # data that are fit for the largest are fit for all
            refuse_unfit_powers(matrix, max(exponents), precision)
    lanes = [(matrix, p) for matrix in matrices for p in exponents]
    runs = _run_lanes(lanes, k, CENTRES[centre], precision)
    width = len(exponents)
    return [runs[row * width : (row + 1) * width] for row in range(len(matrices))]


def _run_lanes(
    lanes: list[tuple[FloatArray, float]], k: int, find_centres: CentreMethod, precision: Precision
) -> list[ImwkResult]:
    """Run all lanes, many together: grouping changes no result.

    Lanes of like exponents are grouped, because those take about as many steps; groups are of one
    size, because a small one takes almost as many calls.
    """
    runs: dict[int, ImwkResult] = {}
    order = sorted(range(len(lanes)), key=lambda lane: lanes[lane][1])
    groups = max(1, round(sum(X.size for X, _ in lanes) / CELLS_TOGETHER))
    together = max(1, ceil(len(lanes) / groups))
    for first in range(0, len(order), together):
        group = order[first : first + together]
        X: FloatArray = np.stack([lanes[lane][0].T for lane in group], axis=1)
        X = np.asarray(X, dtype=precision, order="C")
        X += 0.0  # no -0.0: the sign of a lone member's centre would depend on other lanes
        p = np.array([lanes[lane][1] for lane in group])
        with zeros_have_powers():
            start = anomalous_patterns(X, k, p, find_centres)
            runs |= zip(group, run_main_loop(X, p, start, find_centres), strict=True)
    return [runs[lane] for lane in range(len(lanes))]


def _refuse_other_shapes(matrices: list[FloatArray]) -> None:
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) > 1:
        raise InvalidInputError(
            f"the data sets have different shapes: {sorted(shapes)}. "
            "Call imwk_grid once for each shape."
        )
