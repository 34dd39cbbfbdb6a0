"""Make and open a cube."""

import xarray as xr
import zarr

from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation, place_at, store_at
from storage.compatibility import refuse_another_spec
from storage.errors import CubeError, storage_errors
from storage.handle import Cube, open_group
from storage.layout.axes import Axes
from storage.layout.schema import ALL_RESULTS, Status
from storage.layout.skeleton import DIMS, DOCUMENT, skeleton
from storage.provenance import RUNS, cube_attributes, group_document
from storage.tables import add_tables, table_files

#: A cube has thousands of small chunks: one at a time, as Zarr decodes them, takes twice as long.
READING = {"codec_pipeline.batch_size": 64}


def create_cube(location: CubeLocation, spec: SweepSpec, tables: Tables | None = None) -> None:
    """Make an empty cube for a sweep, unless it is there already.

    Parameters
    ----------
    location : path or URL
        Folder to make, with those above it, or where in an object store.
    spec : SweepSpec
        The sweep.
    tables : mapping of str to Table, optional
        Data by hash, for the cube to keep. A cube that is there has them already; they take the
        place of damaged ones.

    Raises
    ------
    CubeMismatchError
        If a cube of another sweep is there.
    CubeError
        If something else is there, the folder cannot be written, or data are lacking.

    Notes
    -----
    The cube is there at once: of two creators one comes first and the other finds its cube; a
    kill leaves a cube or none.

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
    place = place_at(location)
    with storage_errors(f"make the cube {location}"):
        if not place.is_taken():
            files = skeleton(spec, Axes.of(spec), cube_attributes(spec))
            files |= table_files(spec, tables or {})
            place.create(files | {f"{RUNS}/{DOCUMENT}": group_document({})})
        elif not place.read_many([DOCUMENT]):
            raise CubeError(f"{location} is there already, and is no cube. Choose another place.")
    refuse_another_spec(location, open_group(location).spec, spec)
    with storage_errors(f"keep the data of the cube {location}"):
        add_tables(location, (tables or {}).values())


def open_cube(location: CubeLocation) -> xr.Dataset:
    """Open a cube for reading: only what is done, in the order of its spec.

    Parameters
    ----------
    location : path or URL
        An existing cube; a sweep may be writing to it.

    Returns
    -------
    xarray.Dataset
        Lazy; exponents ascending, names in the order of the spec. Results are NaN in tiles that
        are not done, and in cells that were not computed. The attribute ``unlabelled`` names
        configurations without labels: they have no ARI, and if all are so there is none at all.

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
    unlabelled = cube.spec.unlabelled
    without = [
        name
        for name, variable in ALL_RESULTS.items()
        if variable.needs_labels and len(unlabelled) == len(cube.spec.configs)
    ]
    stored_results = [name for name in ALL_RESULTS if name in ordered and name not in without]
    results = {name: ordered[name].where(done) for name in stored_results}
    return ordered.drop_vars(without).assign(results).assign_attrs(unlabelled=list(unlabelled))


def _in_order(stored: xr.Dataset, cube: Cube) -> xr.Dataset:
    wanted = Axes.of(cube.spec)
    places = {
        dim: cube.axes.positions(dim, getattr(wanted, dim))
        for dim in DIMS
        if getattr(wanted, dim) != tuple(stored[dim].values.tolist())
    }
    return stored.isel(places)
