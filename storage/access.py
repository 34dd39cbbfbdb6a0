"""Whether a cube can be reached and written from here."""

from uuid import uuid4

from storage.backends.location import CubeLocation, place_at
from storage.errors import CubeError, storage_errors
from storage.handle import open_group


def cube_id(location: CubeLocation) -> str:
    """Return what tells a cube from all others, wherever it is seen from.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     len(cube_id(f"{folder}/cube.zarr"))
    32
    """
    return str(open_group(location).group.attrs["id"])


def check_access(location: CubeLocation, wanted: str) -> None:
    """Raise an error unless the cube `wanted`, by its id, is at a location and can be written."""
    if cube_id(location) != wanted:
        raise CubeError(f"{location} is another cube there.")
    place = place_at(location)
    key = f"status/.probe-{uuid4().hex}"  # where Zarr looks for chunks only
    with storage_errors(f"write to the cube {location}"):
        place.write({key: b""})
        place.delete([key])
