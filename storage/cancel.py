"""Stop the sweeps that write to a cube, from wherever the cube can be written.

A mark in the cube changes. A sweep remembers the one that it found when it began, and stops when it
finds another.
"""

from uuid import uuid4

from storage.backends.location import CubeLocation, place_at
from storage.errors import storage_errors
from storage.handle import open_group

#: Beside the chunks of an array: in a group, Zarr would warn of a stranger.
MARK = "status/.cancelled"


def cancel_sweeps(location: CubeLocation) -> None:
    """Ask all sweeps that write to a cube to stop; those that begin later are not meant.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     begun = cancel_mark(f"{folder}/cube.zarr")
    ...     cancel_sweeps(f"{folder}/cube.zarr")
    ...     cancel_mark(f"{folder}/cube.zarr") == begun
    False
    """
    open_group(location)  # there is a cube, or an error that says so
    with storage_errors(f"cancel sweeps of {location}"):
        place_at(location).write({MARK: uuid4().hex.encode()})


def cancel_mark(location: CubeLocation) -> str:
    """Return the mark that is in a cube at the moment; empty if no sweep was ever cancelled."""
    with storage_errors(f"read {location}"):
        return place_at(location).read_many([MARK]).get(MARK, b"").decode()
