"""Compare two cubes by label, whatever the order of their coordinates."""

import numpy as np
import xarray as xr

from storage.layout.schema import ABOUT_TILES
from storage.query.selection import described

#: They describe how a cube was computed, not its results.
NOT_COMPARED = ("tile_seconds", "grid")
#: The values of a tile that one of the cubes does not have; other tiles never have them.
_NO_TILE = {"status": -1, "error": ""}


def compare_cubes(first: xr.Dataset, second: xr.Dataset) -> xr.Dataset:
    """Count the labelled values in which two cubes differ.

    Parameters
    ----------
    first, second : xarray.Dataset
        Open cubes.

    Returns
    -------
    xarray.Dataset
        For each ``variable``, except those about how a cube was computed: the number of ``cells``
        with a value in either cube; how many are ``differing``, including those that one cube
        lacks; and the ``largest_difference`` of two finite numbers, NaN if there are no two. The
        cubes are equal if ``differing`` is 0 everywhere.

    Examples
    --------
    >>> first = xr.DataArray([0.1, 0.2], {"p1": [1.4, 2.0]}).to_dataset(name="imwk_ari")
    >>> second = xr.DataArray([0.5, 0.1], {"p1": [2.0, 1.4]}).to_dataset(name="imwk_ari")
    >>> found = compare_cubes(first, second).sel(variable="imwk_ari")
    >>> int(found.cells), int(found.differing), float(found.largest_difference)
    (2, 1, 0.3)
    """
    known = {**described(first), **described(second), **ABOUT_TILES}
    fills = {name: _NO_TILE.get(name, np.nan) for name in known if name not in NOT_COMPARED}
    ours, theirs = xr.align(first, second, join="outer", fill_value=fills)
    names = [name for name in fills if name in first or name in second]
    found = [_difference(_part(ours, theirs, name), _part(theirs, ours, name)) for name in names]
    return xr.concat(found, xr.Variable("variable", names))


def _part(cube: xr.Dataset, other: xr.Dataset, name: str) -> xr.DataArray:
    """Return a variable of a cube, all NaN if only the other cube has it."""
    return cube[name] if name in cube else other[name].where(False)


def _difference(ours: xr.DataArray, theirs: xr.DataArray) -> xr.Dataset:
    present = ours.notnull() | theirs.notnull()
    numbers = ours.dtype.kind in "fiu"
    largest = abs(_finite(ours) - _finite(theirs)).max() if numbers else xr.DataArray(np.nan)
    return xr.Dataset(
        {
            "cells": present.sum(),
            "differing": (present & (ours != theirs)).sum(),
            "largest_difference": largest.astype(np.float64),
        }
    )


def _finite(values: xr.DataArray) -> xr.DataArray:
    """Return the values without infinite ones, which have no difference."""
    return values.where(np.isfinite(values))
