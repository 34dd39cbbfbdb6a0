"""The labels and feature weights that a cube keeps of its runs."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.core.validation import as_choice
from pipeline.spec.fields import is_list
from storage.errors import CubeError, storage_errors
from storage.handle import AnyCube, CubeHandle, as_handle
from storage.layout.axes import Axes
from storage.layout.kept import KEPT_RESULTS, KeptVariable
from storage.layout.schema import TILE_DIMS, Status
from storage.query.selection import select
from storage.tables import stored_table
from storage.tile_arrays import read_tile_array

#: What is read where a tile is not done.
NO_RESULT: dict[str, float] = {"weights": np.nan, "inertia": np.nan, "converged": False}


def labels(
    cube: AnyCube,
    *,
    config: str | None = None,
    dataset: int | Iterable[int] | None = None,
    normalisation: str | Iterable[str] | None = None,
    p1: float | Iterable[float] | None = None,
    p2: float | Iterable[float] | None = None,
    part: str = "rescaled_imwk",
) -> xr.DataArray:
    """Return the cluster of every row, by the runs of one configuration.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        A cube whose spec has ``keep = ["labels"]``, as those of tables have by default.
    config : str, optional
        The configuration. Required if the cube has several.
    dataset, normalisation, p1, p2 : optional
        One label, whose dimension is dropped, or several; by default all. Exponents are accurate to
        1e-6.
    part : {"rescaled_imwk", "imwk", "kmeans"}
        Imwk-means at p2 on data rescaled at p1; imwk-means at p1; or the k-means++ restart of least
        inertia on the normalised data.

    Returns
    -------
    xarray.DataArray
        Lazy whole numbers from 0, with the dimensions dataset, normalisation, p1, p2 and row, as
        far as the part has them and they are not dropped; -1 where a tile is not done. For
        imwk-means, the coordinate ``converged`` tells whether the labels are a fixed point. For
        k-means++, ``restart`` is the number of the restart, and ``inertia`` its inertia.

    Raises
    ------
    CubeError
        If the cube has no labels; the message tells how to get them.
    InvalidInputError
        If the cube has no such part, configuration or label of a dimension.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import Table
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage import create_cube
    >>> from storage.tiles import write_tile
    >>> table = Table(np.array([[0.0], [1.0], [8.0], [9.0]]), ("size",))
    >>> sweep = Sweep.of({"mine": table}, k=2, normalisations=["range"], p1=[1.5, 2], p2=[3])
    >>> with TemporaryDirectory() as folder:
    ...     cube = f"{folder}/cube.zarr"
    ...     create_cube(cube, sweep.spec, sweep.tables)
    ...     for tile in sweep.spec.tiles:
    ...         write_tile(cube, tile, [run_tile(sweep.spec, tile, table)])
    ...     labels(cube).dims
    ...     labels(cube, dataset=0, normalisation="range", p1=2, p2=3).values.tolist()
    ('dataset', 'normalisation', 'p1', 'p2', 'row')
    [1, 1, 0, 0]
    """
    wanted = {"dataset": dataset, "normalisation": normalisation, "p1": p1, "p2": p2}
    return _kept(as_handle(cube), "labels", config, part, wanted)


def weights(
    cube: AnyCube,
    *,
    config: str | None = None,
    dataset: int | Iterable[int] | None = None,
    normalisation: str | Iterable[str] | None = None,
    p1: float | Iterable[float] | None = None,
    p2: float | Iterable[float] | None = None,
    part: str = "rescaled_imwk",
) -> xr.DataArray:
    """Return the feature weights of every cluster, by the runs of one configuration.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        A cube whose spec has ``keep = ["weights"]``, as those of tables have by default.
    config, dataset, normalisation, p1, p2 : optional
        As for `labels`.
    part : {"rescaled_imwk", "imwk"}
        Imwk-means at p2 on data rescaled at p1, or imwk-means at p1, whose weights rescale.

    Returns
    -------
    xarray.DataArray
        Lazy float32, good to four digits, with the dimensions dataset, normalisation, p1, p2,
        cluster and feature, as far as the part has them and they are not dropped. The coordinate
        ``feature`` has the names of a table's features. Clusters that a run did not form have NaN,
        as do tiles that are not done. A cluster that lost its members has equal weights.

    Raises
    ------
    CubeError, InvalidInputError
        As for `labels`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import Table
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage import create_cube
    >>> from storage.tiles import write_tile
    >>> table = Table(np.array([[0.0, 3], [1, 9], [1, 2], [8, 8], [9, 2], [9, 9]]), ("a", "b"))
    >>> sweep = Sweep.of({"mine": table}, k=2, normalisations=["range"], p1=[1.5, 2], p2=[3])
    >>> with TemporaryDirectory() as folder:
    ...     cube = f"{folder}/cube.zarr"
    ...     create_cube(cube, sweep.spec, sweep.tables)
    ...     for tile in sweep.spec.tiles:
    ...         write_tile(cube, tile, [run_tile(sweep.spec, tile, table)])
    ...     found = weights(cube, dataset=0, normalisation="range", p1=2, part="imwk").load()
    >>> found.dims, found.mean("cluster").idxmax("feature").item()
    (('cluster', 'feature'), 'a')
    """
    wanted = {"dataset": dataset, "normalisation": normalisation, "p1": p1, "p2": p2}
    return _kept(as_handle(cube), "weights", config, part, wanted)


def _kept(
    handle: CubeHandle, what: str, config: str | None, part: str, wanted: dict[str, Any]
) -> xr.DataArray:
    variable = _variable(handle, what, part)
    config = _one_config(handle, config)
    for dim in ("p1", "p2"):
        if wanted[dim] is not None and dim not in variable.dims:
            raise InvalidInputError(f"The runs of {part} have no {dim}. Leave {dim} out.")
    beside = [other for other in handle.kept if (other.part, other.keep) == (part, what)]
    done = _done(handle, config)
    arrays = {each.what: _lazy(handle, config, each, done) for each in beside}
    stored = xr.Dataset(arrays, _coordinates(handle, config, variable))
    every = stored.isel(_order(handle, config, variable))
    dims = {dim: some for dim, some in wanted.items() if some is not None}
    single = [dim for dim, some in dims.items() if not is_list(some)]
    found = select(every, **dims).squeeze(single)
    result = found.set_coords([each.what for each in beside if each is not variable])[what]
    return result.rename(variable.name).assign_attrs(long_name=variable.about)


def _variable(handle: CubeHandle, what: str, part: str) -> KeptVariable:
    parts = [each.part for each in KEPT_RESULTS.values() if each.what == what]
    as_choice(part, f"part with {what}", parts)
    if what not in handle.spec.keep:
        raise CubeError(
            f"The cube {handle.location} has no {what}, because its sweep did not keep them. "
            f'Submit the sweep to a new cube, with keep = ["labels", "weights"] in its spec. '
            "Sweeps of tables have this by default."
        )
    if part not in handle.spec.parts:
        raise InvalidInputError(
            f"There are no {what} of {part} in this cube: its sweep does not compute {part}, only "
            f"{', '.join(handle.spec.parts)}."
        )
    return KEPT_RESULTS[f"{part}_{what}"]


def _one_config(handle: CubeHandle, config: str | None) -> str:
    configs = handle.spec.configs
    if config is None and len(configs) > 1:
        raise InvalidInputError(
            f"This cube has {len(configs)} configurations: {', '.join(configs)}. Give one of them "
            "as config."
        )
    return configs[0] if config is None else as_choice(config, "configuration", configs)


def _coordinates(handle: CubeHandle, config: str, variable: KeptVariable) -> dict[str, Any]:
    axes, spec = handle.axes, handle.spec
    rows, features, clusters = spec.shape(config)
    names = (
        list(stored_table(handle, config).features)
        if "feature" in variable.inner and config in spec.datasets.matrices
        else range(features)
    )
    inner = {"row": range(rows), "cluster": range(clusters), "feature": names}
    dims = (*TILE_DIMS[1:], *variable.dims)
    return {
        "config": config,
        **{dim: list(getattr(axes, dim)) for dim in dims},
        **{dim: list(inner[dim]) for dim in variable.inner},
    }


def _order(handle: CubeHandle, config: str, variable: KeptVariable) -> dict[str, NDArray[np.intp]]:
    """Return the positions of the spec's coordinates, which are stored in another order."""
    wanted = Axes.of(handle.spec)
    labels = {dim: getattr(wanted, dim) for dim in (*TILE_DIMS[1:], *variable.dims)}
    labels["dataset"] = range(handle.spec.dataset_count(config))
    return {dim: handle.axes.positions(dim, some) for dim, some in labels.items()}


def _done(handle: CubeHandle, config: str) -> NDArray[np.bool_]:
    with storage_errors(f"read the status of the tiles in {handle.location}"):
        status = read_tile_array(handle, "status").values
    return np.asarray(status[handle.axes.config.index(config)] == Status.DONE)


def _lazy(
    handle: CubeHandle, config: str, variable: KeptVariable, done: NDArray[np.bool_]
) -> xr.Variable:
    """Return an array of a configuration, with `NO_RESULT` in tiles that are not done."""
    source = _Source(handle, config, variable)
    empty = np.empty((0,) * source.ndim, source.dtype)  # otherwise Dask would read one
    stored = da.from_array(source, source.array.chunks, name=False, meta=empty)
    of_cells = done.reshape(*done.shape, *(1 for _ in range(source.ndim - done.ndim)))
    none = source.dtype.type(NO_RESULT.get(variable.what, -1))
    dims = (*TILE_DIMS[1:], *variable.dims, *variable.inner)
    return xr.Variable(dims, da.where(of_cells, stored, none))


@dataclass(frozen=True, eq=False)
class _Source:
    """An array for Dask: decoded, and with the errors of this layer where it cannot be read."""

    handle: CubeHandle
    config: str
    variable: KeptVariable

    @property
    def array(self) -> zarr.Array[Any]:
        return self.handle.kept_array(self.config, self.variable)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def ndim(self) -> int:
        return self.array.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        """Return the type of the decoded values: labels are signed, because -1 stands for none."""
        if self.variable.what == "converged":
            return np.dtype(np.bool_)
        stored: np.dtype[Any] = self.array.dtype
        return np.promote_types(stored, np.int8) if stored.kind == "u" else stored

    def __getitem__(self, key: Any) -> NDArray[Any]:
        name, location = self.variable.name, self.handle.location
        with storage_errors(f"read {name} of {self.config} in the cube {location}"):
            values = np.asarray(self.array[key])
        if self.variable.what == "converged":
            return np.asarray(values == 1)
        decoded = values.astype(self.dtype)
        if self.variable.what == "labels":
            decoded[values == self.array.fill_value] = -1
        return decoded
