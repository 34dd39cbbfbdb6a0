"""The files of a cube without results: metadata, coordinates, and tiles outside the sweep."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from pipeline.spec import SweepSpec
from storage.layout.axes import Axes
from storage.layout.cf import coordinate_attributes, variable_attributes
from storage.layout.kept import add_kept_groups
from storage.layout.schema import (
    COORDINATE_CHUNK,
    EXPONENT_CHUNK,
    TILE_DIMS,
    Status,
    Variable,
    variables_of_spec,
)

#: The name of every metadata document of Zarr.
DOCUMENT = "zarr.json"
DIMS = (*TILE_DIMS, "p1", "p2", "restart")

#: Types of numeric coordinates, and the fill value of a lost one: never a valid coordinate.
_COORDINATE_TYPES: dict[str, tuple[type, Any]] = {
    "dataset": (np.int64, -1),
    "restart": (np.int64, -1),
    "p1": (np.float64, np.nan),
    "p2": (np.float64, np.nan),
}

Files = dict[str, bytes]


def skeleton(spec: SweepSpec, axes: Axes, attributes: Mapping[str, Any]) -> Files:
    """Return all files of a cube without results, by key.

    The chunk files of an array are in one folder, compressed by zstd and then given a checksum. The
    root document repeats the metadata of all arrays ("consolidated"): a plain ``xr.open_zarr`` then
    needs only this file, and always finds shapes that match.
    """
    contents: dict[str, Buffer] = {}
    group = zarr.create_group(MemoryStore(contents), attributes=dict(attributes))
    for dim in DIMS:
        _add_coordinate(group, dim, getattr(axes, dim))
    for variable in variables_of_spec(spec).values():
        _add_variable(group, variable, axes)
    add_kept_groups(group, spec, axes)
    outside = np.argwhere(~_is_part(spec, axes))
    status = _array(group, "status")
    for index in map(tuple, outside):
        status[index] = Status.NOT_PART
    files = {key: buffer.to_bytes() for key, buffer in contents.items()}
    return files | {DOCUMENT: consolidated(files)}


def documents(files: Mapping[str, bytes]) -> Files:
    """Return the metadata documents among `files`."""
    return {key: content for key, content in files.items() if key.endswith(DOCUMENT)}


def consolidated(files: Mapping[str, bytes]) -> bytes:
    """Return the root document with those of all arrays and groups in it."""
    root = json.loads(files[DOCUMENT])
    others = {
        key.removesuffix(f"/{DOCUMENT}"): json.loads(content)
        for key, content in sorted(documents(files).items())
        if key != DOCUMENT
    }
    root["consolidated_metadata"] = {
        "kind": "inline",
        "must_understand": False,
        "metadata": others,
    }
    return json.dumps(root).encode()


def document_copies(root: bytes) -> dict[str, Any]:
    """Return the copies of the other documents in the root document, by the key of each."""
    copies = json.loads(root)["consolidated_metadata"]["metadata"]
    return {f"{name}/{DOCUMENT}": copy for name, copy in copies.items()}


def _array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    array = group[name]
    assert isinstance(array, zarr.Array)
    return array


def _is_part(spec: SweepSpec, axes: Axes) -> NDArray[np.bool_]:
    part = np.zeros([axes.length(dim) for dim in TILE_DIMS], dtype=np.bool_)
    for tile in spec.tiles:
        part[axes.index(tile)] = True
    return part


def _add_coordinate(group: zarr.Group, dim: str, values: tuple[Any, ...]) -> None:
    dtype, lost = _COORDINATE_TYPES.get(dim, (str, ""))
    array = group.create_array(
        dim,
        shape=(len(values),),
        chunks=(COORDINATE_CHUNK,),
        dtype=dtype,
        fill_value=lost,
        compressors=[ZstdCodec(), Crc32cCodec()],
        chunk_key_encoding={"name": "default", "separator": "."},
        dimension_names=(dim,),
        attributes=coordinate_attributes(dim),
    )
    if values:
        array[:] = np.array(values, dtype=np.dtypes.StringDType() if dtype is str else dtype)


def _add_variable(group: zarr.Group, variable: Variable, axes: Axes) -> None:
    dims = (*TILE_DIMS, *variable.dims)
    group.create_array(
        variable.name,
        shape=tuple(axes.length(dim) for dim in dims),
        chunks=tuple(_chunk_length(dim, axes) for dim in dims),
        dtype=str if variable.dtype == "str" else variable.dtype,
        fill_value=variable.fill,
        compressors=[ZstdCodec(), Crc32cCodec()] if variable.dims else [Crc32cCodec()],
        chunk_key_encoding={"name": "default", "separator": "."},
        dimension_names=dims,
        attributes=variable_attributes(variable),
    )


def _chunk_length(dim: str, axes: Axes) -> int:
    if dim in TILE_DIMS:
        return 1
    return max(1, axes.length("restart")) if dim == "restart" else EXPONENT_CHUNK
