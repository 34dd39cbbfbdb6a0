"""Where results come from: the sweep, the software, the processors and the times; no names."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any
from uuid import uuid4

import numpy as np

from pipeline.spec import SweepSpec
from storage.backends.location import CubeLocation, place_at
from storage.errors import storage_errors
from storage.handle import open_group
from storage.layout.grids import Grid
from storage.layout.schema import SCHEMA_NAME, SCHEMA_VERSION
from storage.layout.skeleton import DOCUMENT

#: Whose versions may show in the results, or in how they are stored.
PACKAGES = ("imwk-sweep", "numpy", "dask", "distributed", "xarray", "zarr")
#: A Zarr group in the cube, with a group for every run: runs at the same time share no file.
RUNS = "runs"


@dataclass(frozen=True)
class Provenance:
    """Where a cube's results come from.

    Attributes
    ----------
    spec : SweepSpec
        The sweep.
    fingerprint : str
        Of the spec.
    created, updated : str
        When the cube was made, and when it was last extended or a run last reported; in UTC.
    hosts : int
        How many different hosts computed tiles.
    runs : tuple of dict
        What each run recorded: times, versions, CPU features.
    """

    spec: SweepSpec
    fingerprint: str
    created: str
    updated: str
    hosts: int
    runs: tuple[dict[str, Any], ...]


def cube_attributes(spec: SweepSpec, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the attributes of a cube for `spec`; those from `before` an extension go on."""
    attributes = dict(before or {"id": uuid4().hex, "created": _now(), "grids": []})
    grid = Grid.of(spec)
    entry = {"p1": list(grid.p1), "p2": list(grid.p2)}
    if entry not in attributes["grids"][-1:]:
        attributes["grids"] = [*attributes["grids"], entry]
    return attributes | {
        "schema": SCHEMA_NAME,
        "schema_version": SCHEMA_VERSION,
        "updated": _now(),
        "spec": spec.model_dump(mode="json"),
        "fingerprint": spec.fingerprint,
    }


def environment() -> dict[str, Any]:
    """Return what of this machine and its software may show in the last bits of results.

    Examples
    --------
    >>> sorted(environment())
    ['cpu_features', 'machine', 'python', 'versions']
    """
    features = np.show_config(mode="dicts").get("SIMD Extensions", {})  # without empty lists
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu_features": [*features.get("baseline", []), *features.get("found", [])],
        "versions": {name: version(name) for name in PACKAGES},
    }


def record_run(location: CubeLocation, hosts: Iterable[str], run: str | None = None) -> str:
    """Write down that this software, on `hosts`, computes tiles of a cube.

    Parameters
    ----------
    location : path
        An existing cube.
    hosts : iterable of str
        Names of the hosts that take part; only salted hashes are kept, to count them.
    run : str, optional
        What an earlier call returned, to report again: new hosts are added, the time renewed.

    Returns
    -------
    str
        The run's name.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     run = record_run(f"{folder}/cube.zarr", ["node1"])
    ...     run = record_run(f"{folder}/cube.zarr", ["node1", "node2"], run)
    ...     read_provenance(f"{folder}/cube.zarr").hosts
    2
    """
    cube_id = str(open_group(location).group.attrs["id"])
    run = run or uuid4().hex
    place, key = place_at(location), f"{RUNS}/{run}/{DOCUMENT}"
    here = environment()
    with storage_errors(f"record a run in the cube {location}"):
        stored = place.read_many([key])
        before = _attributes(stored[key]) if stored else {"started": _now(), "host_marks": []}
        marks = {_mark(cube_id, host) for host in hosts} | set(before["host_marks"])
        record = before | here | {"updated": _now(), "host_marks": sorted(marks)}
        place.write({key: group_document(record)})
    return run


def read_provenance(location: CubeLocation) -> Provenance:
    """Return where a cube's results come from; records of runs that are damaged are left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage.cube import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     read_provenance(f"{folder}/cube.zarr").fingerprint == spec.fingerprint
    True
    """
    cube = open_group(location)
    attributes = cube.group.attrs.asdict()
    with storage_errors(f"read the runs of the cube {location}"):
        place = place_at(location)
        keys = (key for key in place.keys(RUNS) if key.endswith(f"/{DOCUMENT}"))
        records = place.read_many(key for key in keys if key != f"{RUNS}/{DOCUMENT}")
        runs = sorted(_readable(records.values()), key=lambda run: str(run["started"]))
    times = [str(attributes["updated"]), *(str(run["updated"]) for run in runs)]
    marks = {mark for run in runs for mark in run.pop("host_marks")}
    return Provenance(
        cube.spec,
        str(attributes["fingerprint"]),
        str(attributes["created"]),
        max(times),
        len(marks),
        tuple(runs),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _mark(cube_id: str, host: str) -> str:
    return hashlib.sha256(f"{cube_id} {host}".encode()).hexdigest()[:16]


def group_document(attributes: Mapping[str, Any]) -> bytes:
    """Return Zarr's document of a group that has attributes only."""
    document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    return json.dumps(document).encode()


def _readable(documents: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield records of runs. A power cut may empty the newest, and no result depends on them."""
    for document in documents:
        with suppress(ValueError, KeyError, TypeError):
            record = _attributes(document)
            if record.keys() >= {"started", "updated", "host_marks", *environment()}:
                yield record


def _attributes(document: bytes) -> dict[str, Any]:
    return dict(json.loads(document)["attributes"])
