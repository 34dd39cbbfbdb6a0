"""Minkowski centres: per feature, the value with the least sum of p-th powers of differences.

Everything here works on many segments at once, each with an exponent of its own. A centre comes
with its dispersions, because the last evaluation of the search has them anyway.
"""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import powers
from pipeline.core.roots import root_of_slope
from pipeline.core.segments import (
    BoolArray,
    CentreMethod,
    Centres,
    Segments,
    centres_by_kind,
)
from pipeline.core.validation import (
    FloatArray,
    as_choice,
    as_exponent,
    as_matrix,
    refuse_unfit_powers,
)

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
    whole = Segments(np.ascontiguousarray(matrix.T), np.array([len(matrix)]))
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


def exact_centres(segments: Segments, p: FloatArray) -> Centres:
    """Return centres that are good to 1e-7 of each feature's range."""
    return _centres(segments, p, root_of_slope)


def fixed_step_centres(segments: Segments, p: FloatArray) -> Centres:
    """Return centres as the paper's authors find them."""
    return _centres(segments, p, _walk)


CENTRES: dict[str, CentreMethod] = {"exact": exact_centres, "fixed-step": fixed_step_centres}


def _centres(segments: Segments, p: FloatArray, search: CentreMethod) -> Centres:
    """Use the closed form where there is one, and `search` elsewhere."""
    several = segments.counts > 1
    kinds: list[tuple[BoolArray, CentreMethod]] = [
        (~several, _lone_members),
        (several & (p == 1), _medians),
        (several & (p == 2), _means),
        (several & (p != 1) & (p != 2), search),
    ]
    return centres_by_kind(segments, p, kinds)


def _lone_members(segments: Segments, _: FloatArray) -> Centres:
    return Centres(segments.columns, np.zeros_like(segments.columns))


def _medians(segments: Segments, p: FloatArray) -> Centres:
    groups = np.split(segments.columns, segments.starts[1:], axis=1)
    medians = np.stack([np.median(group, axis=1) for group in groups], axis=1)
    return Centres(medians, dispersions(segments, medians, p))


def _means(segments: Segments, p: FloatArray) -> Centres:
    means = segments.means()
    return Centres(means, dispersions(segments, means, p))


def dispersions(segments: Segments, centres: FloatArray, p: FloatArray) -> FloatArray:
    """Return the sum over each segment of ``|x - centre| ** p``, of shape (m, segments)."""
    differences = segments.spread(centres)
    differences -= segments.columns
    return segments.sums(
        powers(differences, segments.spread(p.astype(differences.dtype)), out=differences)
    )


def _walk(segments: Segments, p: FloatArray) -> Centres:
    """Walk from the mean in steps that shrink where they no longer descend, as the authors do."""
    found = Centres(segments.means(), np.empty((len(segments.columns), len(p))))
    found.dispersions[:] = dispersions(segments, found.centres, p)
    ahead = dispersions(segments, found.centres + FIRST_STEP, p)
    step = np.where(found.dispersions < ahead, -FIRST_STEP, FIRST_STEP)
    walking = np.arange(len(p))
    while len(walking):
        centres, lowest = found.centres[:, walking], found.dispersions[:, walking]
        there = dispersions(segments, centres + step, p)
        better = there < lowest
        found.centres[:, walking] = np.where(better, centres + step, centres)
        found.dispersions[:, walking] = np.where(better, there, lowest)
        step = np.where(better, step, step * STEP_SHRINKAGE)
        going = np.asarray((np.abs(step) >= LAST_STEP).any(axis=0))
        if not going.all():
            segments, p = segments.only(going), p[going]
            walking, step = walking[going], step[:, going]
    return found
