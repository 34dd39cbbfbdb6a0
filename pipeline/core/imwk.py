"""Intelligent Minkowski weighted k-means: the public functions, and how runs are put in lanes."""

from collections.abc import Iterable, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.centres import CentreMethod, centre_method
from pipeline.core.errors import InvalidInputError
from pipeline.core.lanes import ImwkResult, anomalous_patterns, run_main_loop
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.types import Float64Array, FloatArray
from pipeline.core.validation import (
    as_choice,
    as_cluster_count,
    as_exponents,
    as_list,
    as_matrix,
    as_whole_number,
    refuse_unfit_powers,
)

#: Lanes are grouped so that a group has about this many cells of data. Larger groups would need
#: more memory and save few calls.
CELLS_TOGETHER = 2_000_000

Precision = type[np.float64] | type[np.float32]
DTYPES: dict[str, Precision] = {"float64": np.float64, "float32": np.float32}


class Lane(NamedTuple):
    """One run: a data set (n, m) and an exponent."""

    X: Float64Array
    p: float


def imwk(
    X: ArrayLike, k: int, p: float, centre: str = "exact", dtype: str = "float64"
) -> ImwkResult:
    """Cluster `X` by intelligent Minkowski weighted k-means. Deterministic.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns. Normalise the features first.
    k : int
        Number of clusters, 1 to n. Fewer are formed if fewer anomalous patterns exist.
    p : float
        Minkowski exponent, at least 1. It also controls the feature weights: near 1 a cluster
        relies on few features; for large p it uses all features almost equally.
    centre : {"exact", "fixed-step"}
        How centres are found. ``fixed-step`` reproduces the published values on real data.
    dtype : {"float64", "float32"}
        Precision of the data and their powers. float32 is faster. Its exact centres are good to
        1e-3 of a feature's range, most of them to 1e-5.

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
        One for each exponent, in their order. Each equals that of `imwk` alone, bit for bit.

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
        A list for each data set with a result for each exponent. Each result equals that of `imwk`
        alone, bit for bit.

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> grid = imwk_grid([X, X], k=2, ps=[1.5, 2, 3])
    >>> len(grid), len(grid[0])
    (2, 3)
    """
    matrices, exponents = as_matrices(Xs), as_exponents(ps)
    precision = DTYPES[as_choice(dtype, "dtype", DTYPES)]
    clusters = as_cluster_count(k, len(matrices[0])) if matrices else as_whole_number(k, "k", 1)
    find_centres = centre_method(centre, matrices)
    if exponents:  # data that are fit for the largest exponent are fit for all
        for matrix in matrices:
            refuse_unfit_powers(matrix, max(exponents), precision)
    lanes = [Lane(matrix, p) for matrix in matrices for p in exponents]
    runs = run_lanes(lanes, clusters, find_centres, precision)
    width = len(exponents)
    return [runs[row * width : (row + 1) * width] for row in range(len(matrices))]


def as_matrices(Xs: Sequence[ArrayLike]) -> list[Float64Array]:
    """Return all data sets as matrices of one shape."""
    matrices = [as_matrix(X) for X in as_list(Xs, "Xs", "data sets")]
    shapes = {matrix.shape for matrix in matrices}
    if len(shapes) > 1:
        raise InvalidInputError(
            f"the data sets have different shapes: {sorted(shapes)}. "
            "Call imwk_grid once for each shape."
        )
    return matrices


def run_lanes(
    lanes: list[Lane], k: int, find_centres: CentreMethod, precision: Precision
) -> list[ImwkResult]:
    """Run all lanes, many together; grouping changes no result.

    Lanes of similar exponents are grouped, because they take about as many steps. Groups are of
    one size, because a small group takes almost as many calls as a large one.
    """
    runs: dict[int, ImwkResult] = {}
    order = sorted(range(len(lanes)), key=lambda lane: lanes[lane].p)
    groups = max(1, round(sum(lane.X.size for lane in lanes) / CELLS_TOGETHER))
    together = max(1, ceil(len(lanes) / groups))
    for first in range(0, len(order), together):
        group = order[first : first + together]
        results = _run_together([lanes[lane] for lane in group], k, find_centres, precision)
        runs |= zip(group, results, strict=True)
    return [runs[lane] for lane in range(len(lanes))]


def _run_together(
    lanes: list[Lane], k: int, find_centres: CentreMethod, precision: Precision
) -> list[ImwkResult]:
    """Run one group of lanes."""
    p = np.array([lane.p for lane in lanes])
    stacked = np.stack([lane.X.T for lane in lanes], axis=1)
    X: FloatArray = np.asarray(stacked, dtype=precision, order="C")
    X += 0.0  # no -0.0: the sign of a lone member's centre would depend on other lanes
    with zeros_have_powers():
        start = anomalous_patterns(X, k, p, find_centres)
        return run_main_loop(X, p, start, find_centres)
