"""Comparisons with k-means++, the baseline of the paper."""

import xarray as xr

from pipeline.core.errors import InvalidInputError
from pipeline.score_facts import suffix
from storage.query.averages import averaged, scores
from storage.query.selection import DEFAULT_VARIABLE, as_variable, exponents_of, results_of


def baseline_of(cube: xr.Dataset, variable: str) -> str | None:
    """Return the ARI of k-means++ that another ARI is compared with, or None if there is none.

    Other scores that need classes are compared in the same way. Label-free scores are not: they use
    the same plain distances that k-means++ minimises, so beating it means little, and most cells of
    a heatmap would be white.

    Examples
    --------
    >>> cube = xr.Dataset({"imwk_ari": 0.5, "imwk_silhouette": 0.3, "kmeans_ari": 0.4})
    >>> baseline_of(cube, "imwk_ari"), baseline_of(cube, "imwk_silhouette")
    ('kmeans_ari', None)
    """
    found = as_variable(cube, variable)
    baseline = f"kmeans_{suffix(str(found.score))}"
    return baseline if found.needs_labels and baseline in results_of(cube) else None


def compared_with_kmeans(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.Dataset:
    """Average an ARI over data sets, together with the expected ARI of k-means++.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.Dataset
        ``average``, NaN where there is no result; ``expected``, the expected ARI of k-means++ over
        the same data sets; and ``datasets``, their number.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> restarts = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> compared = compared_with_kmeans(xr.merge([grid, restarts]), "imwk_ari")
    >>> compared.average.values.tolist(), compared.expected.values.round(3).tolist()
    ([0.1, 0.6], [0.3, 0.3])
    """
    exponents_of(cube, variable)
    name = baseline_of(cube, variable)
    if name is None:
        raise InvalidInputError(
            f"{variable} cannot be compared with k-means++ in this cube. Choose an ARI, or another "
            "score that needs classes, in a cube whose sweep has the part kmeans."
        )
    values, baseline = scores(cube, variable), scores(cube, name)
    both = values.notnull() & baseline.notnull()
    ours, theirs = averaged(values.where(both)), averaged(baseline.where(both))
    return ours.drop_vars("spread").assign(expected=theirs["average"])


def beats_kmeans(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.DataArray:
    """Return which exponents beat the expected ARI of k-means++, on average over data sets.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.DataArray
        Booleans; False where there is no result. Both means are over the same data sets.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> restarts = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> beats_kmeans(xr.merge([grid, restarts]), "imwk_ari").values.tolist()
    [False, True]
    """
    compared = compared_with_kmeans(cube, variable)
    return (compared["average"] > compared["expected"]).rename("beats_kmeans")


def share_beating_kmeans(cube: xr.Dataset, variable: str = DEFAULT_VARIABLE) -> xr.Dataset:
    """Return the share of the grid that beats the expected ARI of k-means++.

    Parameters
    ----------
    cube : xarray.Dataset
        An open cube of a sweep with k-means++.
    variable : str
        An ARI with exponents.

    Returns
    -------
    xarray.Dataset
        ``share``, the share of the ``cells`` of the grid that have a result; and ``datasets``, the
        largest number of data sets that a cell has.

    Examples
    --------
    >>> grid = xr.DataArray([[0.1, 0.6]], {"dataset": [0], "p1": [1.4, 2.0]}, name="imwk_ari")
    >>> restarts = xr.DataArray([[0.2, 0.4]], dims=("dataset", "restart"), name="kmeans_ari")
    >>> share = share_beating_kmeans(xr.merge([grid, restarts]), "imwk_ari")
    >>> float(share.share), int(share.cells), int(share.datasets)
    (0.5, 2, 1)
    """
    dims = exponents_of(cube, variable)
    datasets = scores(cube, variable).count("dataset")
    cells = (datasets > 0).sum(dims)
    share = beats_kmeans(cube, variable).sum(dims) / cells.where(cells > 0)
    return xr.Dataset({"share": share, "cells": cells, "datasets": datasets.max(dims)})
