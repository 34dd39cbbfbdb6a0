"""Arrays with one number for each tile, read as a whole.

Each number is a chunk of its own, because two processes that write parts of one chunk lose updates.
Zarr reads some 5,000 chunks a second. But only a few of them are different, so the chunks are read
as bytes, and Zarr decodes each different one once.
"""

import json
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from storage.backends.protocol import Backend
from storage.handle import CubeHandle
from storage.layout.axes import TileIndex
from storage.layout.skeleton import DOCUMENT


@dataclass(frozen=True, eq=False)
class TileArray:
    """One number for each tile.

    Attributes
    ----------
    values : ndarray
        With the dimensions config, dataset and normalisation.
    damaged : tuple of TileIndex
        Where it cannot be read; `values` has the fill value there.
    """

    values: NDArray[Any]
    damaged: tuple[TileIndex, ...]


def read_tile_array(
    handle: CubeHandle, name: str, shape: tuple[int, ...] | None = None
) -> TileArray:
    """Read an array of one number for each tile.

    A `shape` larger than the array's own is that of an extension which is being prepared.
    """
    array = handle.array(name)
    values = np.full(shape or array.shape, array.fill_value, dtype=array.dtype)
    chunks = _chunks(handle.backend, name, values.shape)
    decode = partial(_decoded, array)
    known = {content: decode(content) for content in set(chunks.values())}
    for index, content in chunks.items():
        if known[content] is not None:
            values[index] = known[content]
    damaged = (index for index, content in chunks.items() if known[content] is None)
    return TileArray(values, tuple(sorted(damaged)))


def _chunks(backend: Backend, name: str, shape: tuple[int, ...]) -> dict[TileIndex, bytes]:
    """Return the bytes of all chunks inside `shape`; chunks that are being written are left out."""
    indices = {key: _index(key.removeprefix(f"{name}/")) for key in backend.keys(name)}
    inside = {
        key: index
        for key, index in indices.items()
        if index and all(at < length for at, length in zip(index, shape, strict=True))
    }
    return {inside[key]: content for key, content in backend.read_many(inside).items()}


def _index(name: str) -> TileIndex | None:
    """Return the position of the tile whose chunk has this name; None if it is not a chunk.

    Examples
    --------
    >>> _index("c.0.12.3"), _index("c.0.12.3.0123abcd.partial"), _index("zarr.json")
    ((0, 12, 3), None, None)
    """
    prefix, *numbers = name.split(".")
    if prefix != "c" or len(numbers) != 3 or not all(map(str.isdecimal, numbers)):
        return None
    config, dataset, normalisation = map(int, numbers)
    return config, dataset, normalisation


def _decoded(array: zarr.Array[Any], content: bytes) -> Any:
    """Return the number in a chunk's bytes, or None if they are damaged."""
    document = array.metadata.to_buffer_dict(default_buffer_prototype())[DOCUMENT].to_bytes()
    alone = {**json.loads(document), "shape": [1, 1, 1]}
    buffer = default_buffer_prototype().buffer.from_bytes
    files = {DOCUMENT: buffer(json.dumps(alone).encode()), "c.0.0.0": buffer(content)}
    try:
        return zarr.open_array(MemoryStore(files), mode="r")[0, 0, 0]
    except (ValueError, RuntimeError):
        return None
