"""Where two cubes differ: by label, whatever the order and the files."""

import numpy as np
import xarray as xr

from storage.layout.schema import VARIABLES

#: They tell how a cube was made, not what it holds.
NOT_COMPARED = ("tile_seconds", "grid")
#: What stands for a tile that one of two cubes does not have; no tile has it.
_NO_TILE = {"status": -1, "error": ""}
_FILLS = {name: _NO_TILE.get(name, np.nan) for name in VARIABLES if name not in NOT_COMPARED}


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
    ours, theirs = xr.align(first, second, join="outer", fill_value=_FILLS)
    names = [name for name in _FILLS if name in first or name in second]
    found = [_difference(_part(ours, theirs, name), _part(theirs, ours, name)) for name in names]
    return xr.concat(found, xr.Variable("variable", names))


def _part(cube: xr.Dataset, other: xr.Dataset, name: str) -> xr.DataArray:
    """Return a variable of a cube, without any value if only the other has it."""
    return cube[name] if name in cube else other[name].where(False)


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
