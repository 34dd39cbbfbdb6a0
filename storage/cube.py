"""Make and open a cube."""

import shutil
from pathlib import Path
from uuid import uuid4

import xarray as xr
import zarr

from pipeline.spec import SweepSpec
from storage.axes import Axes
from storage.comparison import refuse_another_spec
from storage.errors import storage_errors
from storage.exchange import LOCK
from storage.handle import Cube, open_group
from storage.location import CubeLocation, cube_folder, store_at
from storage.provenance import RUNS, cube_attributes, group_document
from storage.schema import RESULTS, Status
from storage.skeleton import DIMS, DOCUMENT, Files, skeleton

#: A cube has thousands of small chunks: one at a time, as Zarr decodes them, takes twice as long.
READING = {"codec_pipeline.batch_size": 64}


def create_cube(location: CubeLocation, spec: SweepSpec) -> None:
    """Make an empty cube for a sweep, unless it is there already.

    Parameters
    ----------
    location : path
        Folder to make, with those above it.
    spec : SweepSpec
        The sweep.

    Raises
    ------
    CubeMismatchError
        If a cube of another sweep is there.
    CubeError
        If something else is there, or the folder cannot be written.

    Notes
    -----
    The cube is made beside its place and then renamed: of two creators one comes first and the
    other finds its cube; a kill leaves a cube or none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}}, p1=[1.4])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     cube = open_cube(f"{folder}/cube.zarr")
    ...     cube.rescaled_imwk_ari.sel(p1=1.4).shape
    (1, 2, 4, 40)
    """
    folder = cube_folder(location)
    with storage_errors(f"make the cube {location}"):
        if not _is_taken(folder):
            files = skeleton(spec, Axes.of(spec), cube_attributes(spec))
            _create(folder, files | {str(LOCK): b"", f"{RUNS}/{DOCUMENT}": group_document({})})
    refuse_another_spec(location, open_group(location).spec, spec)


def _is_taken(folder: Path) -> bool:
    return folder.exists() and (not folder.is_dir() or any(folder.iterdir()))


def _create(folder: Path, files: Files) -> None:
    beside = folder.with_name(f".{folder.name}.{uuid4().hex}")
    try:
        for key, content in files.items():
            path = beside / key
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        beside.rename(folder)
    except OSError:
        shutil.rmtree(beside, ignore_errors=True)
        if not _is_taken(folder):  # else another creator was first
            raise


def open_cube(location: CubeLocation) -> xr.Dataset:
    """Open a cube for reading: only what is done, in the order of its spec.

    Parameters
    ----------
    location : path
        An existing cube; a sweep may be writing to it.

    Returns
    -------
    xarray.Dataset
        Lazy; exponents ascending, names in the order of the spec. Results are NaN in tiles that
        are not done, and in cells that were not computed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     int(open_cube(f"{folder}/cube.zarr").status.sum())
    0
    """
    cube = open_group(location)
    with storage_errors(f"open the cube {location}"), zarr.config.set(READING):
        # One Dask chunk for each configuration: one for each tile would be many small tasks.
        stored = xr.open_zarr(
            store_at(location),
            consolidated=True,
            chunks={"config": 1, "dataset": -1, "normalisation": -1},
        )
        ordered = _in_order(stored, cube)
    done = ordered.status == Status.DONE
    return ordered.assign({name: ordered[name].where(done) for name in RESULTS})


def _in_order(stored: xr.Dataset, cube: Cube) -> xr.Dataset:
    wanted = Axes.of(cube.spec)
    places = {
        dim: cube.axes.positions(dim, getattr(wanted, dim))
        for dim in DIMS
        if getattr(wanted, dim) != tuple(stored[dim].values.tolist())
    }
    return stored.isel(places)
