"""The tables of a cube: each is stored once, under its hash, and checked by it when it is read.

They travel with the cube: a worker needs no other file, and resuming, extending or verifying a cube
does not need one either.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from pipeline.core.errors import InvalidInputError
from pipeline.core.validation import as_choice
from pipeline.datasets import Table
from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import backend_at
from storage.errors import CubeError, DamagedCubeError, storage_errors
from storage.handle import AnyCube, CubeHandle, as_array, as_handle
from storage.layout.skeleton import DOCUMENT, Files

#: A Zarr group in the cube, with a group for every table.
TABLES = "tables"
#: Numbers in a chunk.
CHUNK_CELLS = 1_000_000
#: Tables that a process keeps in memory.
KEPT = 32


def stored_table(cube: AnyCube, config: str, dataset: int = 0) -> Table:
    """Return the table of a configuration, which a process reads once.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        An existing cube.
    config : str
        A configuration whose data come from a table, or from several.
    dataset : int
        The number of the data set.

    Returns
    -------
    Table
        Bit for bit the table that the cube was created with.

    Raises
    ------
    InvalidInputError
        If the cube has no such table.
    DamagedCubeError
        If the table is lost or damaged.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage import create_cube
    >>> sweep = Sweep.of({"mine": Table(np.array([[1.0], [2.0], [9.0]]), ("size",))}, k=2)
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", sweep.spec, sweep.tables)
    ...     stored_table(f"{folder}/cube.zarr", "mine").X.ravel().tolist()
    [1.0, 2.0, 9.0]
    """
    handle = as_handle(cube)
    tables = handle.spec.datasets.matrices
    facts = tables[as_choice(config, "table", tables)]
    if dataset not in range(len(facts.hashes)):
        raise InvalidInputError(
            f"{config} has no data set {dataset}. It has 0 to {len(facts.hashes) - 1}."
        )
    return _read_once(str(handle.location), config, facts.hashes[dataset])


def refuse_damaged_tables(handle: CubeHandle) -> None:
    """Read all tables of a cube, and raise an error if one is damaged."""
    for config, sha256 in _hashes(handle.spec):
        _read(str(handle.location), config, sha256)


def table_files(spec: SweepSpec, tables: Tables) -> Files:
    """Return the files of all tables of a spec, by key in the cube."""
    wanted = wanted_tables(spec, tables, stored=())
    if not wanted:
        return {}
    contents: dict[str, Buffer] = {}
    group = zarr.create_group(MemoryStore(contents))
    for table in wanted:
        _write(group, table)
    files = {key: buffer.to_bytes() for key, buffer in contents.items()}
    return {key: content for key, content in files.items() if key != DOCUMENT}


def add_tables(handle: CubeHandle, tables: Iterable[Table]) -> None:
    """Store those tables that are not in a cube yet, or are damaged there."""
    location = str(handle.location)
    lacking = [table for table in tables if not _is_stored(location, table.sha256)]
    if not lacking:
        return
    store = handle.backend.store(writable=True)
    group = zarr.open_group(store, mode="r+", use_consolidated=False)
    for table in lacking:
        _write(group, table)


def wanted_tables(spec: SweepSpec, tables: Tables, stored: Iterable[str]) -> list[Table]:
    """Return the tables of a spec whose hashes are not among `stored`.

    Raise `CubeError` if one of them is not among `tables`.
    """
    known = set(stored)
    wanted = {sha256: config for config, sha256 in _hashes(spec) if sha256 not in known}
    lacking = dict.fromkeys(config for sha256, config in wanted.items() if sha256 not in tables)
    if lacking:
        raise CubeError(
            f"The data of {', '.join(lacking)} are needed once, to be stored in the cube. Give "
            "their tables, or name their files in the spec under [datasets.tables]."
        )
    return [tables[sha256] for sha256 in wanted]


def _hashes(spec: SweepSpec) -> Iterator[tuple[str, str]]:
    """Yield the configuration and the hash of every table."""
    for config, facts in spec.datasets.matrices.items():
        for sha256 in facts.hashes:
            yield config, sha256


@lru_cache(maxsize=KEPT)
def _read_once(location: str, config: str, sha256: str) -> Table:
    return _read(location, config, sha256)


def _read(location: str, config: str, sha256: str) -> Table:
    with storage_errors(f"read the data of {config} in {location}"):
        table = _stored(location, sha256)
    if table.sha256 != sha256:
        raise DamagedCubeError(
            f"The data of {config} in {location} are damaged. Submit the sweep again with the "
            "original file to store them again."
        )
    return table


def _is_stored(location: str, sha256: str) -> bool:
    try:
        return _read(location, "a table", sha256).sha256 == sha256
    except DamagedCubeError:
        return False
    except CubeError as error:  # a store that does not answer may have it
        if isinstance(error.__cause__, FileNotFoundError):
            return False
        raise


def _stored(location: str, sha256: str) -> Table:
    store, path = backend_at(location).store(writable=False), f"{TABLES}/{sha256}"
    group = zarr.open_group(store, path=path, mode="r", use_consolidated=False)
    about: dict[str, Any] = group.attrs.asdict()
    arrays = {name: np.asarray(as_array(group, name)[...]) for name in about["arrays"]}
    names = tuple(about["features"]), tuple(about["class_names"])
    return Table(arrays["X"], names[0], arrays.get("classes"), names[1])


def _write(root: zarr.Group, table: Table) -> None:
    arrays = {"X": table.X} if table.classes is None else {"X": table.X, "classes": table.classes}
    about = {
        "arrays": list(arrays),
        "features": list(table.features),
        "class_names": list(table.class_names),
    }
    group = root.require_group(TABLES).create_group(table.sha256, overwrite=True, attributes=about)
    for name, values in arrays.items():
        width = values[0].size
        array = group.create_array(
            name,
            shape=values.shape,
            chunks=(max(1, CHUNK_CELLS // width), *values.shape[1:]),
            dtype=values.dtype,
            compressors=[ZstdCodec(), Crc32cCodec()],
            chunk_key_encoding={"name": "default", "separator": "."},
        )
        array[...] = values
