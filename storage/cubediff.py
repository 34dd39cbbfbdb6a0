"""Where two cubes differ: by label, whatever the order and the files."""

import numpy as np
import xarray as xr

from storage.schema import VARIABLES

#: They tell how a cube was made, not what it holds.
NOT_COMPARED = ("tile_seconds", "grid")
#: What stands for a tile that one of two cubes does not have; no tile has it.
_NO_TILE = {"status": -1, "error": ""}


def compare_cubes(first: xr.Dataset, second: xr.Dataset) -> xr.Dataset:
    """Count the labelled values in which two cubes differ.

    Parameters
    ----------
    first, second : xarray.Dataset
        As `open_cube` gives them.

    Returns
    -------
    xarray.Dataset
        For each ``variable`` but those about how a cube was made: ``cells`` with a value in either
        cube, how many are ``differing``, those that one cube lacks included, and the
        ``largest_difference`` of two numbers, NaN if there are no two. Cubes are the same if
        ``differing`` is 0 everywhere.

    Examples
    --------
    >>> first = xr.DataArray([0.1, 0.2], {"p1": [1.4, 2.0]}).to_dataset(name="imwk_ari")
    >>> second = xr.DataArray([0.5, 0.1], {"p1": [2.0, 1.4]}).to_dataset(name="imwk_ari")
    >>> found = compare_cubes(first, second).sel(variable="imwk_ari")
    >>> int(found.cells), int(found.differing), float(found.largest_difference)
    (2, 1, 0.3)
    """
    names = [name for name in VARIABLES if name in first and name not in NOT_COMPARED]
    fills = {name: _NO_TILE.get(name, np.nan) for name in names}
    ours, theirs = xr.align(first[names], second[names], join="outer", fill_value=fills)
    found = [_difference(ours[name], theirs[name]) for name in names]
    return xr.concat(found, xr.Variable("variable", names))


def _difference(ours: xr.DataArray, theirs: xr.DataArray) -> xr.Dataset:
    present = ours.notnull() | theirs.notnull()
    numbers = ours.dtype.kind in "fiu"
    largest = abs(ours - theirs).max() if numbers else xr.DataArray(np.nan)
    return xr.Dataset(
        {
            "cells": present.sum(),
            "differing": (present & (ours != theirs)).sum(),
            "largest_difference": largest.astype(np.float64),
        }
    )
