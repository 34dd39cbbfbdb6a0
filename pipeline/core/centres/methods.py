"""Minkowski centres: per feature, the value with the least sum of p-th powers of differences.

Everything here works on many groups of entities at once, each with an exponent of its own. A
centre comes with its dispersions, because the last evaluation of the search has them anyway.
"""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.centres.roots import root_of_slope
from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import powers, spread_exponents, zeros_have_powers
from pipeline.core.segments import CentreMethod, Centres, Groups, Runs, centres_by_kind
from pipeline.core.types import BoolArray, FloatArray
from pipeline.core.validation import as_choice, as_exponent, as_matrix, refuse_unfit_powers

FIRST_STEP = 0.001
LAST_STEP = 1e-4
STEP_SHRINKAGE = 0.9
#: The fixed-step walk takes up to one evaluation per 0.001 of range: wider data would never end.
WIDEST_WALK = 100.0


def minkowski_centre(X: ArrayLike, p: float, method: str = "exact") -> FloatArray:
    """Find the Minkowski centre of the rows of `X`.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns.
    p : float
        Exponent, at least 1. The centre is the median at 1 and the mean at 2.
    method : {"exact", "fixed-step"}
        ``exact`` is good to 1e-7 of each feature's range; ``fixed-step`` is the walk of
        the paper's authors, good to about 5e-4, which the published figures need.

    Returns
    -------
    ndarray, shape (m,)
        The centre.

    Examples
    --------
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=2).tolist()
    [1.0]
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=1).tolist()
    [0.0]
    """
    matrix, exponent = as_matrix(X), as_exponent(p)
    refuse_unfit_powers(matrix, exponent)
    find_centres = centre_method(as_choice(method, "method", CENTRES), matrix)
    whole = Groups(matrix.T, np.array([len(matrix)]))
    with zeros_have_powers():
        return np.asarray(find_centres(whole, np.array([exponent])).centres[:, 0])


def centre_method(name: str, X: FloatArray) -> CentreMethod:
    """Look a method up by name, and refuse data, features in columns, that it cannot serve."""
    as_choice(name, "centre", CENTRES)
    widest = float(np.ptp(X, axis=0).max())
    if name == "fixed-step" and widest > WIDEST_WALK:
        raise InvalidInputError(
            f"a feature of X spans {widest:.3g}, which the fixed-step centre would cross in steps "
            f"of {FIRST_STEP}. Normalise X first, or use the exact centre."
        )
    return CENTRES[name]


def exact_centres(groups: Groups, p: FloatArray) -> Centres:
    """Return centres that are good to 1e-7 of each feature's range, to 1e-3 in float32."""
    return _centres(groups, p, root_of_slope)


def fixed_step_centres(groups: Groups, p: FloatArray) -> Centres:
    """Return centres as the paper's authors find them."""
    return _centres(groups, p, _walk)


CENTRES: dict[str, CentreMethod] = {"exact": exact_centres, "fixed-step": fixed_step_centres}


def _centres(groups: Groups, p: FloatArray, search: CentreMethod) -> Centres:
    """Use the closed form where there is one, and `search` elsewhere."""
    if (groups.counts == 1).all():
        return Centres(groups.columns.copy(), np.zeros_like(groups.columns))
    kinds: list[tuple[BoolArray, CentreMethod]] = [
        (p == 1, _medians),
        (p == 2, _means),
        ((p != 1) & (p != 2), search),
    ]
    return centres_by_kind(groups, p, kinds)


def _medians(groups: Groups, p: FloatArray) -> Centres:
    each = np.split(groups.columns, np.cumsum(groups.counts)[:-1], axis=1)
    medians = np.stack([np.median(group, axis=1) for group in each], axis=1)
    return Centres(medians, group_dispersions(groups, medians, p))


def _means(groups: Groups, p: FloatArray) -> Centres:
    means = groups.runs.means().reshape(-1, len(p))
    return Centres(means, group_dispersions(groups, means, p))


def group_dispersions(groups: Groups, centres: FloatArray, p: FloatArray) -> FloatArray:
    """Return the sum over each group of ``|x - centre| ** p``, of shape (m, groups)."""
    exponents = np.tile(p, len(centres))
    return _dispersions(groups.runs, centres.ravel(), exponents).reshape(centres.shape)


def _dispersions(runs: Runs, centres: FloatArray, p: FloatArray) -> FloatArray:
    found = np.empty_like(centres)
    for some, block in runs.blocks:
        terms = block.spread(centres[some])
        terms -= block.values
        found[some] = block.sums(
            powers(terms, spread_exponents(p[some], block.counts, terms.dtype), out=terms)
        )
    return found


def _walk(groups: Groups, p: FloatArray) -> Centres:
    """Walk from the mean in steps that shrink where they no longer descend, as the authors do."""
    centres = groups.runs.means().reshape(-1, len(p))
    lowest = group_dispersions(groups, centres, p)
    found = Centres(np.empty_like(centres), np.empty_like(centres))
    first = centres.dtype.type(FIRST_STEP)
    step = np.where(lowest < group_dispersions(groups, centres + first, p), -first, first)
    step[lowest == 0] = 0.0  # a lone member or a constant feature has nowhere to go
    walking = np.arange(len(p))
    while len(walking):
        there = group_dispersions(groups, centres + step, p)
        better = there < lowest
        centres, lowest = np.where(better, centres + step, centres), np.where(better, there, lowest)
        step = np.where(better, step, step * centres.dtype.type(STEP_SHRINKAGE))
        going = np.asarray((np.abs(step) >= LAST_STEP).any(axis=0))
        if not going.all():
            found.centres[:, walking[~going]] = centres[:, ~going]
            found.dispersions[:, walking[~going]] = lowest[:, ~going]
            groups, p, walking = groups.only(going), p[going], walking[going]
            centres, lowest, step = centres[:, going], lowest[:, going], step[:, going]
    return found
