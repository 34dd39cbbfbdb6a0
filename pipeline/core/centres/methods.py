"""The centre methods by name, and the centre of one data set."""

import numpy as np
from numpy.typing import ArrayLike

from pipeline.core.centres.dispatch import exact_centres, fixed_step_centres
from pipeline.core.centres.types import CentreMethod
from pipeline.core.centres.walk import FIRST_STEP, WIDEST_WALK
from pipeline.core.errors import InvalidInputError
from pipeline.core.minkowski import zeros_have_powers
from pipeline.core.segments import Groups
from pipeline.core.types import Float64Array
from pipeline.core.validation import as_choice, as_exponent, as_matrix, refuse_unfit_powers

CENTRES: dict[str, CentreMethod] = {"exact": exact_centres, "fixed-step": fixed_step_centres}


def minkowski_centre(X: ArrayLike, p: float, method: str = "exact") -> Float64Array:
    """Find the Minkowski centre of the rows of `X`.

    Parameters
    ----------
    X : array_like, shape (n, m)
        Entities in rows, features in columns.
    p : float
        Exponent, at least 1. The centre is the median at 1 and the mean at 2.
    method : {"exact", "fixed-step"}
        ``exact`` is good to 1e-7 of each feature's range. ``fixed-step`` is the walk of the
        paper's authors, good to about 5e-4, which the published values need.

    Returns
    -------
    ndarray, shape (m,)
        The centre: for each feature the value with the smallest sum of p-th powers of differences.

    Examples
    --------
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=2).tolist()
    [1.0]
    >>> minkowski_centre([[0.0], [0.0], [3.0]], p=1).tolist()
    [0.0]
    """
    matrix, exponent = as_matrix(X), as_exponent(p)
    refuse_unfit_powers(matrix, exponent)
    find_centres = centre_method(method, [matrix], "method")
    whole = Groups(matrix.T, np.array([len(matrix)]))
    with zeros_have_powers():
        return np.asarray(find_centres(whole, np.array([exponent])).centres[:, 0], dtype=np.float64)


def centre_method(name: str, Xs: list[Float64Array], what: str = "centre") -> CentreMethod:
    """Return the method of this name; refuse data, features in columns, that it cannot handle."""
    find_centres = CENTRES[as_choice(name, what, CENTRES)]
    if find_centres is fixed_step_centres:
        for X in Xs:
            _refuse_endless_walk(X)
    return find_centres


def _refuse_endless_walk(X: Float64Array) -> None:
    widest = float(np.ptp(X, axis=0).max())
    if widest > WIDEST_WALK:
        raise InvalidInputError(
            f"a feature of X has a range of {widest:.3g}. The fixed-step centre walks in steps of "
            f"{FIRST_STEP}, which would take too long. Normalise X first, or use the exact centre."
        )
