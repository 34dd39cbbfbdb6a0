"""The tables of a cube: each stored once, under its hash, and checked by it when it is read.

They travel with the cube: a worker needs no other file, nor does who resumes, extends or verifies.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import numpy as np
import zarr
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from pipeline.datasets import Table
from pipeline.datasets.tables.table import Tables
from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation, store_at
from storage.errors import CubeError, DamagedCubeError, storage_errors
from storage.handle import Cube, as_array, open_group
from storage.layout.skeleton import DOCUMENT, Files

#: A Zarr group in the cube, with a group for every table.
TABLES = "tables"
#: Numbers in a chunk.
CHUNK_CELLS = 1_000_000
#: Tables that a process keeps once it has read them.
KEPT = 32


def stored_table(location: CubeLocation, config: str) -> Table:
    """Return the data of a configuration of a cube; a process reads each once.

    Parameters
    ----------
    location : path
        An existing cube.
    config : str
        A configuration that is not synthetic.

    Returns
    -------
    Table
        As it was when the cube was made, bit for bit.

    Raises
    ------
    DamagedCubeError
        If the data are lost or are not what they were.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage.cube import create_cube
    >>> sweep = Sweep.of({"mine": Table(np.array([[1.0], [2.0], [9.0]]), ("size",))}, k=2)
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", sweep.spec, sweep.tables)
    ...     stored_table(f"{folder}/cube.zarr", "mine").X.ravel().tolist()
    [1.0, 2.0, 9.0]
    """
    spec = open_group(location).spec
    return _read_once(str(location), config, spec.datasets.matrices[config].sha256)


def refuse_damaged_data(cube: Cube) -> None:
    """Read all tables of a cube, and refuse it if one is not what it was."""
    for config, facts in cube.spec.datasets.matrices.items():
        _read(str(cube.location), config, facts.sha256)


def table_files(spec: SweepSpec, tables: Tables) -> Files:
    """Return the files of all tables that a spec knows, by key in the cube."""
    wanted = wanted_tables(spec, tables, stored=())
    if not wanted:
        return {}
    contents: dict[str, Buffer] = {}
    group = zarr.create_group(MemoryStore(contents))
    for table in wanted:
        _write(group, table)
    files = {key: buffer.to_bytes() for key, buffer in contents.items()}
    return {key: content for key, content in files.items() if key != DOCUMENT}


def add_tables(location: CubeLocation, tables: Iterable[Table]) -> None:
    """Store tables in a cube that does not have them, or not undamaged."""
    lacking = [table for table in tables if not _is_whole(str(location), table.sha256)]
    if not lacking:
        return
    group = zarr.open_group(store_at(location, writable=True), mode="r+", use_consolidated=False)
    for table in lacking:
        _write(group, table)


def wanted_tables(spec: SweepSpec, tables: Tables, stored: Iterable[str]) -> list[Table]:
    """Return the tables of a spec that are not `stored`, by hash; refuse if one is not given."""
    known = set(stored)
    wanted = {
        facts.sha256: config
        for config, facts in spec.datasets.matrices.items()
        if facts.sha256 not in known
    }
    lacking = [config for sha256, config in wanted.items() if sha256 not in tables]
    if lacking:
        raise CubeError(
            f"The data of {', '.join(lacking)} are needed once, for the cube to keep. Name the "
            "file in the spec, under [datasets.tables], or give --data."
        )
    return [tables[sha256] for sha256 in wanted]


@lru_cache(maxsize=KEPT)
def _read_once(location: str, config: str, sha256: str) -> Table:
    return _read(location, config, sha256)


def _read(location: str, config: str, sha256: str) -> Table:
    with storage_errors(f"read the data of {config} in {location}"):
        table = _stored(location, sha256)
    if table.sha256 != sha256:
        raise DamagedCubeError(
            f"The data of {config} in {location} are not what they were. Submit again with the "
            "original file, and they are stored anew."
        )
    return table


def _is_whole(location: str, sha256: str) -> bool:
    try:
        return _read(location, "a table", sha256).sha256 == sha256
    except DamagedCubeError:
        return False
    except CubeError as error:  # a store that does not answer may have it whole
        if isinstance(error.__cause__, FileNotFoundError):
            return False
        raise


def _stored(location: str, sha256: str) -> Table:
    path = f"{TABLES}/{sha256}"
    group = zarr.open_group(store_at(location), path=path, mode="r", use_consolidated=False)
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
