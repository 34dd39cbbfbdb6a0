"""Make a cube larger."""

import json

from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation, Place, place_at
from storage.compatibility import refuse_smaller_spec
from storage.errors import storage_errors
from storage.handle import Cube, open_group
from storage.layout.axes import Axes
from storage.layout.schema import TILE_DIMS, VARIABLES, Status
from storage.layout.skeleton import DIMS, DOCUMENT, Files, consolidated, documents, skeleton
from storage.provenance import cube_attributes
from storage.tables import add_tables, wanted_tables
from storage.tile_arrays import read_flags

#: Keys of all metadata documents that a cube may have.
DOCUMENTS = (DOCUMENT, *(f"{name}/{DOCUMENT}" for name in (*DIMS, *VARIABLES)))


def extend_cube(location: CubeLocation, spec: SweepSpec, tables: Tables | None = None) -> None:
    """Make room in a cube for a larger sweep, without touching what is there.

    Parameters
    ----------
    location : path
        An existing cube.
    spec : SweepSpec
        At least the tiles and exponents of the cube's own spec, and equal in everything else.
    tables : mapping of str to Table, optional
        Data by hash, at least those that the cube does not have.

    Raises
    ------
    CubeMismatchError
        If `spec` has less than the cube, or differs in what decides results.

    Notes
    -----
    Killed at any moment it leaves the cube either as it was or extended; call it again to know.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage.cube import create_cube, open_cube
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", SweepSpec(datasets=data, p1=[2]))
    ...     extend_cube(f"{folder}/cube.zarr", SweepSpec(datasets=data, p1=[1.5, 2]))
    ...     open_cube(f"{folder}/cube.zarr").p1.values.tolist()
    [1.5, 2.0]
    """
    refuse_smaller_spec(location, open_group(location).spec, spec)
    place = place_at(location)
    with storage_errors(f"extend the cube {location}"), place.locked():
        place.settle(DOCUMENTS)
        cube = open_group(location)
        refuse_smaller_spec(location, cube.spec, spec)  # another process may have extended it
        if spec != cube.spec:
            stored = (facts.sha256 for facts in cube.spec.datasets.matrices.values())
            add_tables(location, wanted_tables(spec, tables or {}, stored))
            _extend(place, cube, spec)


def _extend(place: Place, cube: Cube, spec: SweepSpec) -> None:
    axes = cube.axes.grown(spec)
    files = skeleton(spec, axes, cube_attributes(spec, cube.group.attrs.asdict()))
    coordinates = tuple(f"{dim}/c." for dim in DIMS)
    # Stored values keep their places, so the longer chunk reads the same in the old shape.
    place.write({key: files[key] for key in files if key.startswith(coordinates)})
    _prepare_status(place, cube, axes, spec, files)
    place.exchange(_grown_documents(place, files))


def _prepare_status(place: Place, cube: Cube, axes: Axes, spec: SweepSpec, files: Files) -> None:
    """Mark what is not part of the larger sweep, and unmark what is part of it from now on."""
    shape = tuple(axes.length(dim) for dim in TILE_DIMS)
    status = read_flags(cube, "status", shape).values
    indices = map(axes.index, spec.tiles)
    joined = [index for index in indices if status[index] == Status.NOT_PART]
    place.delete("status/" + ".".join(["c", *map(str, index)]) for index in joined)
    stored = set(place.keys("status"))
    outside = (key for key in files if key.startswith("status/c."))
    place.write({key: files[key] for key in outside if key not in stored})


def _grown_documents(place: Place, files: Files) -> Files:
    """Return the stored documents with new shapes; codecs stay those of the stored chunks."""
    grown = documents(files)
    for key in grown.keys() - {DOCUMENT}:
        stored = json.loads(place.read(key))
        stored["shape"] = json.loads(files[key])["shape"]
        grown[key] = json.dumps(stored).encode()
    return grown | {DOCUMENT: consolidated(grown)}
