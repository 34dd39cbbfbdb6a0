"""Open cubes in memory, and their means and best cells by plain loops."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike, NDArray

from storage.layout.schema import ALL_RESULTS, TILE_DIMS


def cube_of(
    values: Mapping[str, ArrayLike], configs: Sequence[str] = ("1000x6-3",), **labels: Any
) -> xr.Dataset:
    """Return an open cube with the given arrays of (config, dataset, normalisation, ...)."""
    arrays = {
        name: ((*TILE_DIMS, *ALL_RESULTS[name].dims), np.asarray(array, dtype=np.float64))
        for name, array in values.items()
    }
    first = next(iter(arrays.values()))[1]
    coords = {
        "config": list(configs),
        "dataset": np.arange(first.shape[1]),
        "normalisation": ["range", "z-score"][: first.shape[2]],
    }
    return xr.Dataset(arrays, coords | labels)


def plain_mean(values: NDArray[np.float64]) -> tuple[float, float, int]:
    """Return mean, sample standard deviation and number of the values that are not NaN."""
    there = [value for value in values.ravel().tolist() if not np.isnan(value)]
    mean = sum(there) / len(there) if there else np.nan
    squares = sum((value - mean) ** 2 for value in there)
    spread = (squares / (len(there) - 1)) ** 0.5 if len(there) > 1 else np.nan
    return mean, spread, len(there)


def plain_best(grid: NDArray[np.float64]) -> tuple[float, tuple[int, ...]]:
    """Return the highest value of a grid and its first position."""
    best, where = -np.inf, (-1,) * grid.ndim
    for place in np.ndindex(*grid.shape):
        if grid[place] > best:
            best, where = float(grid[place]), place
    return best, where
