"""Features ranked by the weights that a cube keeps of its runs."""

from collections.abc import Iterable

import numpy as np
import xarray as xr

from pipeline.core.types import BoolArray, Float64Array
from pipeline.datasets import CONFIGURATIONS
from storage.errors import CubeError
from storage.handle import AnyCube, as_handle
from storage.query.kept import weights

#: All that weights are ranked over.
RUNS = ("dataset", "normalisation", "p1", "cluster")


def ranked_features(
    cube: AnyCube,
    *,
    config: str | None = None,
    normalisation: str | Iterable[str] | None = None,
) -> xr.Dataset:
    """Return the features of one configuration, those with the highest weights first.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        A cube whose spec has ``keep = ["weights"]``, as those of tables have by default.
    config : str, optional
        The configuration. Required if the cube has several.
    normalisation : str or iterable of str, optional
        The normalisations whose runs count. By default all.

    Returns
    -------
    xarray.Dataset
        ``median``, ``lower`` and ``upper``, the median and the quartiles of each feature's weights
        over clusters, p1, normalisations and data sets; of equal medians the first feature comes
        first. Synthetic data with noise features also have ``noise``, whether a feature is one, and
        ``noise_last``: of u noise features, the share that is in the last u places when the
        features of a data set are ranked; the mean over data sets.

    Raises
    ------
    CubeError
        If the cube has no weights, or none of these runs is done.
    InvalidInputError
        If the cube has no runs of imwk-means, or no such configuration or normalisation.

    Notes
    -----
    The weights are those of imwk-means on data that are not rescaled. Rescaling shrinks features of
    low weight, which makes their weights in the next run higher.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import Table
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage import create_cube
    >>> from storage.tiles import write_tile
    >>> table = Table(np.array([[3.0, 0], [9, 1], [2, 1], [8, 8], [2, 9], [9, 9]]), ("a", "b"))
    >>> sweep = Sweep.of({"mine": table}, k=2, normalisations=["range"], p1=[1.5, 2], p2=[3])
    >>> with TemporaryDirectory() as folder:
    ...     cube = f"{folder}/cube.zarr"
    ...     create_cube(cube, sweep.spec, sweep.tables)
    ...     for tile in sweep.spec.tiles:
    ...         write_tile(cube, tile, [run_tile(sweep.spec, tile, table)])
    ...     ranked_features(cube).feature.values.tolist()
    ['b', 'a']
    """
    handle = as_handle(cube)
    of_runs = weights(handle, config=config, normalisation=_as_list(normalisation), part="imwk")
    loaded = of_runs.transpose(*RUNS, "feature").load()
    if loaded.isnull().all():
        raise CubeError(
            f"No tile of {loaded.config.item()} in the cube {handle.location} is done, so there "
            "are no weights yet. Submit the sweep to the cube again, or choose another "
            "configuration."
        )
    noise = _noise_features(str(loaded.config.item()), loaded.sizes["feature"])
    found = _quartiles(loaded)
    if noise.any():
        share = _share_last(loaded, noise)
        found = found.assign_coords(noise=("feature", noise)).assign(noise_last=share)
    return found.isel(feature=np.argsort(-found["median"].values, kind="stable"))


def _as_list(normalisation: str | Iterable[str] | None) -> list[str] | None:
    """Return several labels even for one, so that the dimension stays."""
    if normalisation is None:
        return None
    return [normalisation] if isinstance(normalisation, str) else list(normalisation)


def _quartiles(of_runs: xr.DataArray) -> xr.Dataset:
    lower, median, upper = _over_runs(of_runs.values, (0.25, 0.5, 0.75))
    coords = {"feature": of_runs.feature, "config": of_runs.config}
    names = {"median": median, "lower": lower, "upper": upper}
    return xr.Dataset({name: ("feature", values) for name, values in names.items()}, coords)


def _over_runs(values: Float64Array, shares: tuple[float, ...]) -> Float64Array:
    """Return quantiles of each feature (last dimension), without clusters that were not formed."""
    rows = values.reshape(-1, values.shape[-1]).astype(np.float64)
    return np.asarray(np.quantile(rows[~np.isnan(rows).any(axis=1)], shares, axis=0))


def _noise_features(config: str, features: int) -> BoolArray:
    """Return which features are noise; those of a table are not known to be."""
    known = config in CONFIGURATIONS
    count = CONFIGURATIONS[config].noise_features if known else 0
    return np.arange(features) >= features - count


def _share_last(of_runs: xr.DataArray, noise: BoolArray) -> float:
    """Return the share of noise features in the last places, in the mean over data sets."""
    done = [each for each in of_runs.values if not np.isnan(each).all()]
    return float(np.mean([_share_of_one(each, noise) for each in done]))


def _share_of_one(values: Float64Array, noise: BoolArray) -> float:
    (medians,) = _over_runs(values, (0.5,))
    last = np.argsort(-medians, kind="stable")[-np.count_nonzero(noise) :]
    return float(noise[last].mean())
