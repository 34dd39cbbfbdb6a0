"""Extend a cube."""

import json

from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation
from storage.backends.protocol import Backend
from storage.compatibility import refuse_smaller_spec
from storage.errors import disk_errors, storage_errors
from storage.handle import CubeHandle, open_handle
from storage.layout.attributes import cube_attributes
from storage.layout.axes import Axes
from storage.layout.kept import GROUP
from storage.layout.schema import TILE_DIMS, VARIABLES, Status
from storage.layout.skeleton import (
    DIMS,
    DOCUMENT,
    Files,
    consolidated,
    document_copies,
    documents,
    skeleton,
)
from storage.tables import add_tables, wanted_tables
from storage.tile_arrays import read_tile_array

#: The keys of all metadata documents that a cube may have, beside those of kept results.
DOCUMENTS = (DOCUMENT, *(f"{name}/{DOCUMENT}" for name in (*DIMS, *VARIABLES)))


def extend_cube(location: CubeLocation, spec: SweepSpec, tables: Tables | None = None) -> None:
    """Extend a cube to a larger sweep, without changing any stored result.

    Parameters
    ----------
    location : path or URL
        An existing cube.
    spec : SweepSpec
        A spec with all tiles and exponents of the cube's own, and equal in everything else.
    tables : mapping of str to Table, optional
        Tables by hash, at least those that the cube does not have.

    Raises
    ------
    CubeMismatchError
        If `spec` has less than the cube, or differs in what decides results.

    Notes
    -----
    A process that is killed leaves the cube as it was, or extended. Call the function again to be
    sure.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage import create_cube, open_cube
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", SweepSpec(datasets=data, p1=[2]))
    ...     extend_cube(f"{folder}/cube.zarr", SweepSpec(datasets=data, p1=[1.5, 2]))
    ...     open_cube(f"{folder}/cube.zarr").p1.values.tolist()
    [1.5, 2.0]
    """
    handle = open_handle(location)
    spec = spec.with_defaults_of(handle.spec)
    refuse_smaller_spec(location, handle.spec, spec)
    with disk_errors(f"extend the cube {location}"), handle.backend.locked():
        with storage_errors(f"extend the cube {location}"):
            kept = (key for key in handle.backend.keys(GROUP) if key.endswith(DOCUMENT))
            handle.backend.settle_documents((*DOCUMENTS, *kept))
        handle = handle.current()  # another process may have extended it
        refuse_smaller_spec(location, handle.spec, spec)
        if spec != handle.spec:
            stored = (facts.sha256 for facts in handle.spec.datasets.matrices.values())
            wanted = wanted_tables(spec, tables or {}, stored)
            with storage_errors(f"extend the cube {location}"):
                add_tables(handle, wanted)
            _extend(handle, spec)


def _extend(handle: CubeHandle, spec: SweepSpec) -> None:
    backend, axes = handle.backend, handle.axes.grown(spec)
    files = skeleton(spec, axes, cube_attributes(spec, handle.group.attrs.asdict()))
    coordinates = tuple(f"{dim}/c." for dim in DIMS)
    # Stored values keep their positions, so a longer chunk has the same values in the old shape.
    backend.write({key: files[key] for key in files if key.startswith(coordinates)})
    _prepare_status(handle, axes, spec, files)
    new = _new_documents(handle, files)
    with storage_errors(f"extend the cube {handle.location}"):
        grown = _grown_documents(backend, files, new)
    # Nobody reads these before the root document has their copies, which the swap replaces.
    backend.write(new)
    backend.swap_documents(grown)


def _prepare_status(handle: CubeHandle, axes: Axes, spec: SweepSpec, files: Files) -> None:
    """Mark the tiles that are not part of the larger sweep, and unmark those that are now."""
    shape = tuple(axes.length(dim) for dim in TILE_DIMS)
    with storage_errors(f"extend the cube {handle.location}"):
        status = read_tile_array(handle, "status", shape).values
    indices = map(axes.index, spec.tiles)
    joined = [index for index in indices if status[index] == Status.NOT_PART]
    # Before the documents are swapped, because no process writes these tiles yet. After the swap, a
    # sweep may have computed one already, and its status would be deleted. If this process is
    # killed here, the smaller sweep has some tiles with the status missing that are not part of it.
    # The ledger lists the tiles of the spec only, so that they are not computed.
    handle.backend.delete("status/" + ".".join(["c", *map(str, index)]) for index in joined)
    stored = set(handle.backend.keys("status"))
    outside = (key for key in files if key.startswith("status/c."))
    handle.backend.write({key: files[key] for key in outside if key not in stored})


def _new_documents(handle: CubeHandle, files: Files) -> Files:
    """Return the documents that the cube lacks: those for kept results of new configurations.

    If an extension was killed, there may be a file for another configuration. The root document
    tells which ones belong to the cube.
    """
    known = {DOCUMENT, *document_copies(handle.document)}
    return {key: content for key, content in documents(files).items() if key not in known}


def _grown_documents(backend: Backend, files: Files, new: Files) -> Files:
    """Return the stored documents with new shapes; their codecs are those of the stored chunks."""
    grown = documents(files)
    for key in grown.keys() - {DOCUMENT, *new}:
        stored = json.loads(backend.read(key))
        if "shape" in stored:  # groups have none
            stored["shape"] = json.loads(files[key])["shape"]
        grown[key] = json.dumps(stored).encode()
    return grown | {DOCUMENT: consolidated(grown)}
