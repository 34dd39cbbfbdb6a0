"""Open a cube as an xarray Dataset that is read lazily."""

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from xarray.backends import BackendArray
from xarray.core import indexing

from storage.backends.location import CubeLocation
from storage.errors import storage_errors
from storage.handle import CubeHandle, open_handle
from storage.layout.attributes import as_texts
from storage.layout.axes import Axes
from storage.layout.config_facts import config_facts
from storage.layout.schema import Status, results_of_spec
from storage.layout.skeleton import DIMS

#: A cube has thousands of small chunks. Zarr decodes one at a time, which takes twice as long.
READING = {"codec_pipeline.batch_size": 64}
#: One Dask chunk for each configuration; one for each tile would be many small tasks.
CHUNKS = {"config": 1, "dataset": -1, "normalisation": -1}


def open_cube(location: CubeLocation) -> xr.Dataset:
    """Open a cube for reading: the results of tiles that are done, in the order of its spec.

    Parameters
    ----------
    location : path or URL
        An existing cube; a sweep may be writing to it.

    Returns
    -------
    xarray.Dataset
        Lazy, with ascending exponents. Configurations are in the order of the spec,
        normalisations in that of the paper. Results are NaN in tiles that are not done, and in
        cells that were not computed. The coordinates ``n``, ``m``, ``k``, ``noise`` and
        ``noise_share`` describe the data of each configuration. The attribute ``unlabelled`` lists
        the configurations without labels, which have no ARI; if none has labels, the Dataset has no
        ARI at all. Attributes with structure, such as ``spec``, are JSON, so that ``to_netcdf`` and
        `xarray.merge` work; `read_spec` returns the spec.

    Raises
    ------
    CubeNotFoundError
        If there is no cube.
    DamagedCubeError
        If the cube is damaged; for results only when they are computed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     int(open_cube(f"{folder}/cube.zarr").status.sum())
    0
    """
    handle = open_handle(location)
    with storage_errors(f"open the cube {location}"), zarr.config.set(READING):
        stored = xr.open_dataset(
            handle.backend.store(writable=False),  # type: ignore[arg-type] # xarray takes any store
            engine="zarr",
            consolidated=True,
            chunks=None,
            cache=False,
        )
    lazy = {str(name): _lazy(location, str(name), stored[name].variable) for name in stored}
    opened = _done_only(_in_order(stored.assign(lazy), handle), handle)
    opened.attrs = as_texts(opened.attrs)
    return opened


@dataclass(frozen=True, eq=False)
class _Stored:
    """A variable of a cube for Dask, with the errors of this layer where it cannot be read."""

    location: CubeLocation
    name: str
    variable: xr.Variable

    @property
    def shape(self) -> tuple[int, ...]:
        return self.variable.shape

    @property
    def ndim(self) -> int:
        return self.variable.ndim

    @property
    def dtype(self) -> np.dtype[Any]:
        dtype: np.dtype[Any] = self.variable.dtype
        return dtype

    def __getitem__(self, key: Any) -> NDArray[Any]:
        with storage_errors(f"read {self.name} in the cube {self.location}"):
            return np.asarray(self.variable[key].values)


class _StoredTexts(BackendArray):
    """A text variable for xarray, as objects: xarray cannot merge NumPy's strings with gaps.

    It has no chunks of Dask, with which `to_netcdf` warns about objects.
    """

    def __init__(self, stored: _Stored) -> None:
        self.stored, self.shape, self.dtype = stored, stored.shape, np.dtype(object)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        support = indexing.IndexingSupport.OUTER
        return indexing.explicit_indexing_adapter(key, self.shape, support, self._read)

    def _read(self, key: Any) -> NDArray[Any]:
        return self.stored[key].astype(object)


def _lazy(location: CubeLocation, name: str, variable: xr.Variable) -> xr.Variable:
    if isinstance(variable.dtype, np.dtypes.StringDType):
        texts = indexing.LazilyIndexedArray(_StoredTexts(_Stored(location, name, variable)))
        return xr.Variable(variable.dims, texts, variable.attrs)
    stored = variable.encoding["preferred_chunks"]
    chunks = tuple(CHUNKS.get(str(dim), stored[dim]) for dim in variable.dims)
    empty = np.empty((0,) * variable.ndim, variable.dtype)  # otherwise Dask would read one
    values = da.from_array(_Stored(location, name, variable), chunks, name=False, meta=empty)
    return variable.copy(data=values)


def _in_order(stored: xr.Dataset, handle: CubeHandle) -> xr.Dataset:
    wanted = Axes.of(handle.spec)
    positions = {
        dim: handle.axes.positions(dim, getattr(wanted, dim))
        for dim in DIMS
        if getattr(wanted, dim) != tuple(stored[dim].values.tolist())
    }
    return stored.isel(positions).assign_coords(config_facts(handle.spec))


def _done_only(ordered: xr.Dataset, handle: CubeHandle) -> xr.Dataset:
    done = ordered.status == Status.DONE
    unlabelled, known = handle.spec.unlabelled, results_of_spec(handle.spec)
    without = [
        name
        for name, variable in known.items()
        if name in ordered and variable.needs_labels and len(unlabelled) == len(handle.spec.configs)
    ]
    shown = [name for name in known if name in ordered and name not in without]
    results = {name: ordered[name].where(done) for name in shown}
    return ordered.drop_vars(without).assign(results).assign_attrs(unlabelled=list(unlabelled))
