"""Small cubes for queries: one with values by hand, and a partial one on disk."""

from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import NDArray

from storage import create_cube, open_cube
from storage.tiles import mark_failed
from tests.storage.grids import cube_of
from tests.storage.made_up import fill, small_spec

NAN = np.nan
#: Two data sets on p1 = 1.1, 1.4 and p2 = 1.5, 3.0. Their best pairs are (1.4, 1.5) and (1.1, 3.0),
#: and the pair with the best mean is neither: (1.1, 1.5).
BY_HAND = np.array([[[0.6, 0.1], [0.8, 0.0]], [[0.6, 0.9], [0.0, 0.2]]])
RESTARTS = np.array([[0.2, 0.4], [0.6, 0.8]])


def by_hand(grid: NDArray[np.float64] = BY_HAND) -> xr.Dataset:
    """Return a cube of one configuration with the values of `grid`."""
    values = {
        "rescaled_imwk_ari": grid[None, :, None],
        "kmeans_ari": RESTARTS[None, : len(grid), None],
    }
    return cube_of(values, p1=[1.1, 1.4], p2=[1.5, 3.0], restart=[0, 1])


def partial_cube(folder: Path, done: int = 3) -> xr.Dataset:
    """Return a cube of 4 data sets in 2 configurations; the first lacks some of them."""
    location = folder / "cube.zarr"
    spec = small_spec(count=4)
    create_cube(location, spec)
    left_out = [t for t in spec.tiles if t.config == "1000x6-3" and t.dataset >= done]
    fill(location, [tile for tile in spec.tiles if tile not in left_out])
    for tile in left_out:
        mark_failed(location, tile, "made to fail")
    return open_cube(location)
