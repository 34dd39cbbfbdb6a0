"""Extend a cube: by data, normalisations and exponents, or by scores of what it keeps."""

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.plugins import in_order, named_plugins, require_plugins
from storage.backends.location import CubeLocation
from storage.backends.protocol import Backend
from storage.compatibility import refuse_other_rules, refuse_smaller_spec
from storage.errors import disk_errors, storage_errors
from storage.handle import CubeHandle, as_array, open_handle
from storage.layout.attributes import cube_attributes
from storage.layout.axes import Axes
from storage.layout.grids import Grid
from storage.layout.kept import GROUP
from storage.layout.schema import ABOUT_TILES, TILE_DIMS, Status, results_of_spec
from storage.layout.skeleton import (
    DIMS,
    DOCUMENT,
    Files,
    consolidated,
    document_copies,
    documents,
    skeleton,
)
from storage.ledger import stored_grid
from storage.tables import add_tables, wanted_tables
from storage.tile_arrays import read_tile_array

#: Computes new scores of a tile that is done: arrays by the names of variables.
Rescore = Callable[[CubeHandle, Tile, Grid, list[str]], dict[str, NDArray[Any]]]


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
        If `spec` has less than the cube, or differs in what decides results, or if the cube was
        computed by other rules.
    PluginError
        If this process lacks a plug-in of the sweep.

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
    require_plugins(spec.plugins, spec.clusterers)
    with disk_errors(f"extend the cube {location}"), handle.backend.locked():
        handle = _settled(handle)  # another process may have extended it
        refuse_smaller_spec(location, handle.spec, spec)
        if spec != handle.spec:
            facts = handle.spec.datasets.matrices.values()
            stored = (sha256 for each in facts for sha256 in each.hashes)
            wanted = wanted_tables(spec, tables or {}, stored)
            with storage_errors(f"extend the cube {location}"):
                add_tables(handle, wanted)
            _extend(handle, spec)


def add_scores(location: CubeLocation, scores: Iterable[str], rescore: Rescore) -> list[str]:
    """Add scores to a cube whose tiles are done, without running the sweep again.

    Parameters
    ----------
    location : path or URL
        An existing cube, to which no sweep writes meanwhile.
    scores : iterable of str
        Some of `pipeline.score_facts.SCORES`, or scores of plug-ins. Those that the cube has are
        left out.
    rescore : callable
        Takes the cube's handle, a tile that is done, the grid that it is complete for and the new
        scores; returns the values of the new variables, as arrays in the order of the grid.

    Returns
    -------
    list of str
        The scores that were added. The cube's spec has them from now on.

    Raises
    ------
    CubeMismatchError
        If the cube was computed by other rules.

    Notes
    -----
    Values are written to new arrays, which nobody sees before the root document lists them. A
    process that is killed leaves the cube without the scores, or with all of them.
    """
    handle = open_handle(location)
    refuse_other_rules(location, handle.spec)
    with disk_errors(f"add scores to the cube {location}"), handle.backend.locked():
        handle = _settled(handle)
        spec = _with_scores(handle.spec, scores)
        new = [name for name in spec.scores if name not in handle.spec.scores]
        if new:
            larger = replace(handle, spec=spec)
            _write_scores(larger, lambda tile, grid: rescore(larger, tile, grid, new))
            _extend(handle, spec)
    return new


def _with_scores(spec: SweepSpec, scores: Iterable[str]) -> SweepSpec:
    """Return a spec with further scores, in the order of a spec that had them from the start."""
    new = [name for name in scores if name not in spec.scores]
    plugins = in_order([*spec.plugins, *named_plugins({"scores": new})])
    keys = {**spec.model_dump(mode="json"), "plugins": plugins}
    return SweepSpec.from_stored({**keys, "scores": [*spec.scores, *dict.fromkeys(new)]})


def _write_scores(
    handle: CubeHandle, rescore: Callable[[Tile, Grid], dict[str, NDArray[Any]]]
) -> None:
    """Create the arrays of new scores, and write the values of all tiles that are done."""
    spec = handle.spec
    files = skeleton(spec, handle.axes, cube_attributes(spec, handle.group.attrs.asdict()))
    handle.backend.write(_new_documents(handle, files))
    with storage_errors(f"add scores to the cube {handle.location}"):
        status, grids = read_tile_array(handle, "status"), read_tile_array(handle, "grid")
        store = handle.backend.store(writable=True)
        group = zarr.open_group(store, mode="r+", use_consolidated=False)
    for tile in spec.tiles:
        grid = stored_grid(handle, handle.index(tile), status, grids)
        if grid is None:
            continue
        for name, values in rescore(tile, grid).items():
            with storage_errors(f"write {name} of the tile {tile} of {handle.location}"):
                stored = _on_axes(handle, name, grid, values)
                as_array(group, name)[handle.index(tile)] = stored


def _on_axes(handle: CubeHandle, name: str, grid: Grid, values: NDArray[Any]) -> NDArray[Any]:
    """Return values of a grid in the order in which the cube stores exponents."""
    variable = results_of_spec(handle.spec)[name]
    stored = np.full([handle.axes.length(dim) for dim in variable.dims], variable.fill)
    stored[np.ix_(*handle.positions(variable, grid.p1, grid.p2))] = values
    return stored


def _settled(handle: CubeHandle) -> CubeHandle:
    """Clean up after an extension that was killed; return the cube in its present state."""
    with storage_errors(f"extend the cube {handle.location}"):
        kept = (key for key in handle.backend.keys(GROUP) if key.endswith(DOCUMENT))
        names = (*DIMS, *results_of_spec(handle.spec), *ABOUT_TILES)
        own = (f"{name}/{DOCUMENT}" for name in names)
        handle.backend.settle_documents((DOCUMENT, *own, *kept))
    return handle.current()


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
