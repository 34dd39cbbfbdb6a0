"""Choose exponents by a score, and compare the choice with the best ARI."""

from collections.abc import Mapping, Sequence

import xarray as xr

from pipeline.core.validation import as_choice
from pipeline.score_facts import SCORE_FACTS, SCORES, suffix
from storage.layout.schema import ALL_RESULTS, Variable
from storage.query.averages import averaged, scores
from storage.query.best import best_scores
from storage.query.selection import DEFAULT_VARIABLE, described, exponents_of, results_of


def score_variable(variable: str, score: str, results: Mapping[str, Variable] = ALL_RESULTS) -> str:
    """Return the name of the variable with a score of the same algorithm.

    Parameters
    ----------
    variable : str
        Any result of the algorithm.
    score : str
        The name of a score.
    results : mapping of str to Variable
        The results of the cube, as `described` returns them. By default without clusterers and
        plug-ins.

    Examples
    --------
    >>> score_variable("rescaled_imwk_ari", "calinski-harabasz")
    'rescaled_imwk_calinski_harabasz'
    """
    part = results[as_choice(variable, "variable", results)].part
    known = [*SCORE_FACTS, *(each.score for each in results.values() if each.score)]
    return f"{part}_{suffix(as_choice(score, 'score', dict.fromkeys(known)))}"


def main_variable(cube: xr.Dataset) -> str:
    """Return the main result of a cube: an ARI or, without labels, a silhouette.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube, or a part of it that `select` returned.

    Returns
    -------
    str
        A result of imwk-means on rescaled data. It is the ARI if the cube has none of them, because
        the error that follows explains why.

    Examples
    --------
    >>> main_variable(xr.Dataset({"rescaled_imwk_silhouette": 0.5}))
    'rescaled_imwk_silhouette'
    >>> unlabelled = {"attrs": {"unlabelled": ["mine"]}, "coords": {"config": ["mine"]}}
    >>> both = {"rescaled_imwk_ari": 0.5, "rescaled_imwk_silhouette": 0.5}
    >>> main_variable(xr.Dataset(both)), main_variable(xr.Dataset(both, **unlabelled))
    ('rescaled_imwk_ari', 'rescaled_imwk_silhouette')
    """
    known = results_of(cube)
    wanted = [DEFAULT_VARIABLE, *(score_variable(DEFAULT_VARIABLE, score) for score in SCORES)]
    return next((name for name in wanted if name in known), DEFAULT_VARIABLE)


def chosen_exponents(
    cube: xr.Dataset, variable: str, score: str, *, average: bool = False
) -> xr.Dataset:
    """Return the exponents at which a score is best, and the ARI there.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube.
    variable : str
        Any result of the algorithm.
    score : str
        A name in `pipeline.SCORE_FACTS`, usually of a score that needs no classes.
    average : bool
        Choose one pair of exponents for all data sets, by the mean score, not one for each.

    Returns
    -------
    xarray.Dataset
        The score under its own name, and ``p1`` and ``p2`` if it depends on them. With labels also
        ``ari``, the ARI of the choice, and ``best_ari``, the highest ARI. Means have ``spread`` and
        ``datasets``, and choices for each data set ``clusters``, the number of clusters found.

    Raises
    ------
    InvalidInputError
        If the cube's sweep did not compute the score.

    Examples
    --------
    >>> coords = {"dataset": [0], "p1": [1.4, 2.0]}
    >>> silhouette = xr.DataArray([[0.3, 0.2]], coords, name="imwk_silhouette")
    >>> ari = xr.DataArray([[0.5, 0.7]], coords, name="imwk_ari")
    >>> chosen = chosen_exponents(xr.merge([silhouette, ari]), "imwk_ari", "silhouette")
    >>> [float(chosen[name][0]) for name in ("p1", "ari", "best_ari")]
    [1.4, 0.5, 0.7]
    """
    known = described(cube)
    name = score_variable(variable, score, known)
    chosen = best_scores(cube, name, average=average)
    part = known[name].part
    ari, clusters = f"{part}_ari", f"{part}_clusters"
    if clusters in results_of(cube) and not average:
        found = _at(scores(cube, clusters), chosen, exponents_of(cube, clusters))
        chosen = chosen.assign(clusters=found)
    if ari not in results_of(cube):
        return chosen
    values = averaged(scores(cube, ari))["average"] if average else scores(cube, ari)
    there = _at(values, chosen, exponents_of(cube, ari))
    return chosen.assign(ari=there, best_ari=best_scores(cube, ari, average=average)[ari])


def _at(values: xr.DataArray, chosen: xr.Dataset, dims: Sequence[str]) -> xr.DataArray:
    """Return the values at the chosen exponents."""
    for dim in dims:
        values = values.where(values[dim] == chosen[dim])
    return values.max(dims)
