"""Create a cube."""

from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation, backend_at
from storage.compatibility import refuse_another_spec, refuse_other_rules
from storage.errors import CubeError, disk_errors, storage_errors
from storage.handle import CubeHandle, open_handle
from storage.layout.attributes import cube_attributes, group_document
from storage.layout.axes import Axes
from storage.layout.skeleton import DOCUMENT, skeleton
from storage.provenance import SESSIONS
from storage.tables import add_tables, table_files


def create_cube(location: CubeLocation, spec: SweepSpec, tables: Tables | None = None) -> None:
    """Create an empty cube for a sweep; leave an existing cube of the same sweep as it is.

    Parameters
    ----------
    location : path or URL
        A folder, which is created together with its parents, or a place in an object store.
    spec : SweepSpec
        The sweep.
    tables : mapping of str to Table, optional
        The data of the sweep's tables by hash, which are stored in the cube. An existing cube
        already has them; the given ones replace those that are damaged.

    Raises
    ------
    CubeMismatchError
        If there is a cube of another sweep, or one that was computed by other rules.
    CubeError
        If the location exists but is not a cube, if it cannot be written, or if tables of the sweep
        are not given.

    Notes
    -----
    The cube is created atomically. If two processes create it, the second finds the cube of the
    first. A killed process leaves a complete cube or none.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage import open_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}}, p1=[1.4])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     cube = open_cube(f"{folder}/cube.zarr")
    ...     cube.rescaled_imwk_ari.sel(p1=1.4).shape
    (1, 2, 4, 40)
    """
    create_or_open(location, spec, tables or {})


def create_or_open(location: CubeLocation, spec: SweepSpec, tables: Tables) -> CubeHandle:
    """Create a cube as `create_cube` does, and return its handle."""
    refuse_other_rules(location, spec)
    _create(location, spec, tables)
    handle = open_handle(location)
    refuse_another_spec(location, handle.spec, spec.with_defaults_of(handle.spec))
    with storage_errors(f"store the data of the cube {location}"):
        add_tables(handle, tables.values())
    return handle


def _create(location: CubeLocation, spec: SweepSpec, tables: Tables) -> None:
    backend = backend_at(location)
    with disk_errors(f"create the cube {location}"):
        if not backend.is_taken():
            files = skeleton(spec, Axes.of(spec), cube_attributes(spec))
            files |= table_files(spec, tables)
            backend.create(files | {f"{SESSIONS}/{DOCUMENT}": group_document({})})
        elif not backend.read_many([DOCUMENT]):
            raise CubeError(
                f"{location} exists already, and is not a cube. Choose another location."
            )
