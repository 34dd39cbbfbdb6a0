"""Arrays with one number a tile, read all at once.

Every such number is a chunk of its own, since two processes that write parts of one chunk lose
updates. Zarr reads some 5,000 chunks a second; but only a few different ones exist, so the files
are read as bytes and Zarr decodes each different one once.
"""

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.core.buffer import default_buffer_prototype
from zarr.storage import MemoryStore

from storage.axes import TileIndex
from storage.handle import Cube
from storage.location import cube_folder
from storage.skeleton import DOCUMENT


@dataclass(frozen=True, eq=False)
class Flags:
    """One number for each tile, and the places where it cannot be read."""

    values: NDArray[Any]
    damaged: tuple[TileIndex, ...]


def read_flags(cube: Cube, name: str, shape: tuple[int, ...] | None = None) -> Flags:
    """Read an array of one number a tile; where it is damaged its fill value stands.

    A `shape` larger than the array's own is that of an extension that is not in force yet.
    """
    array = cube.array(name)
    values = np.full(shape or array.shape, array.fill_value, dtype=array.dtype)
    chunks = _chunk_files(cube_folder(cube.location) / name, values.shape)
    decode = partial(_decoded, array)
    known = {content: decode(content) for content in set(chunks.values())}
    for index, content in chunks.items():
        if known[content] is not None:
            values[index] = known[content]
    damaged = (index for index, content in chunks.items() if known[content] is None)
    return Flags(values, tuple(sorted(damaged)))


def _chunk_files(folder: Path, shape: tuple[int, ...]) -> dict[TileIndex, bytes]:
    """Return the bytes of all chunks inside `shape`; a file in writing has another name."""
    chunks: dict[TileIndex, bytes] = {}
    for entry in os.scandir(folder):
        prefix, *numbers = entry.name.split(".")
        if prefix != "c" or len(numbers) != 3 or not all(map(str.isdecimal, numbers)):
            continue
        config, dataset, normalisation = map(int, numbers)
        index = (config, dataset, normalisation)
        if all(place < length for place, length in zip(index, shape, strict=True)):
            with suppress(FileNotFoundError):  # marked missing since the folder was listed
                chunks[index] = Path(entry.path).read_bytes()
    return chunks


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
