"""Sweeps that write to a cube: whether a process can take part, and how to stop them.

To cancel sweeps, a mark in the cube is changed. A sweep remembers the mark that it found when it
started, and stops when it finds another one.
"""

from uuid import uuid4

from storage.backends.location import CubeLocation, backend_at
from storage.errors import CubeError, disk_errors, storage_errors
from storage.handle import open_handle

#: Beside the chunks of an array: Zarr warns of unknown files in a group.
CANCEL_MARK = "status/.cancelled"


def check_access(location: CubeLocation, wanted: str) -> None:
    """Raise `CubeError` unless the cube with the id `wanted` is at a location and writable."""
    handle = open_handle(location)
    if handle.id != wanted:
        raise CubeError(f"{location} is a different cube on this machine.")
    key = f"status/.probe-{uuid4().hex}"  # beside the chunks of an array, as the mark
    with disk_errors(f"write to the cube {location}"):
        handle.backend.write({key: b""})
        handle.backend.delete([key])


def cancel_sweeps(location: CubeLocation) -> None:
    """Stop all sweeps that write to a cube now; those that start later are not affected.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     before = cancel_mark(f"{folder}/cube.zarr")
    ...     cancel_sweeps(f"{folder}/cube.zarr")
    ...     cancel_mark(f"{folder}/cube.zarr") == before
    False
    """
    handle = open_handle(location)  # raises an error if there is no cube
    with disk_errors(f"cancel the sweeps of {location}"):
        handle.backend.write({CANCEL_MARK: uuid4().hex.encode()})


def cancel_mark(location: CubeLocation) -> str:
    """Return the mark of the latest cancellation; empty if no sweep was ever cancelled."""
    with storage_errors(f"read the cube {location}"):
        return backend_at(location).read_many([CANCEL_MARK]).get(CANCEL_MARK, b"").decode()
