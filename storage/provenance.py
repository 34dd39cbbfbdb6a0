"""Where results come from: the sweep, the software, the processors and the times, but no names."""

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any
from uuid import uuid4

import numpy as np

from pipeline.plugins.kinds import CLUSTERERS
from pipeline.spec import SweepSpec
from storage.errors import storage_errors
from storage.handle import AnyCube, as_handle
from storage.layout.attributes import group_document, now
from storage.layout.skeleton import DOCUMENT

#: Packages whose versions may affect the results, or how they are stored.
PACKAGES = ("imwk-sweep", "numpy", "dask", "distributed", "xarray", "zarr")
#: A Zarr group in the cube, with a group for every record: sessions at the same time share no file.
#: The name is part of the cube's format.
SESSIONS = "runs"


@dataclass(frozen=True)
class Provenance:
    """Where a cube's results come from.

    Attributes
    ----------
    spec : SweepSpec
        The sweep.
    fingerprint : str
        The fingerprint of the spec.
    created, updated : str
        When the cube was created, and when it was last extended or a session last recorded; UTC.
    hosts : int
        How many different hosts computed tiles.
    sessions : tuple of dict
        The records of each session, one for each host: times, versions, CPU features.
    """

    spec: SweepSpec
    fingerprint: str
    created: str
    updated: str
    hosts: int
    sessions: tuple[dict[str, Any], ...]


def environment(spec: SweepSpec | None = None) -> dict[str, Any]:
    """Return the properties of machine and software that may change the last bits of results.

    With a spec, the versions include those of the packages that have its plug-ins.

    Examples
    --------
    >>> sorted(environment())
    ['cpu_features', 'machine', 'python', 'versions']
    """
    features = np.show_config(mode="dicts").get("SIMD Extensions", {})  # has no empty lists
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "cpu_features": [*features.get("baseline", []), *features.get("found", [])],
        "versions": {name: version(name) for name in PACKAGES} | _plugin_versions(spec),
    }


def _plugin_versions(spec: SweepSpec | None) -> dict[str, str]:
    """Return the versions of what computes clusterers and plug-ins, if this process has them."""
    if spec is None:
        return {}
    names = {facts.distribution for facts in spec.plugins if facts.distribution}
    if set(spec.clusterers) & set(CLUSTERERS):
        names.add("scikit-learn")
    versions = {}
    for name in sorted(names):
        with suppress(PackageNotFoundError):
            versions[name] = version(name)
    return versions


def record_session(cube: AnyCube, hosts: Iterable[str], record: str | None = None) -> str:
    """Record that this software computes tiles of a cube on `hosts`.

    Parameters
    ----------
    cube : path, URL or CubeHandle
        An existing cube.
    hosts : iterable of str
        Names of the hosts; only salted hashes are stored, to count them.
    record : str, optional
        The name of an earlier record, to add hosts and to update the time.

    Returns
    -------
    str
        The name of the record.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     record = record_session(f"{folder}/cube.zarr", ["node1"])
    ...     record = record_session(f"{folder}/cube.zarr", ["node1", "node2"], record)
    ...     read_provenance(f"{folder}/cube.zarr").hosts
    2
    """
    handle, name = as_handle(cube), record or uuid4().hex
    key = f"{SESSIONS}/{name}/{DOCUMENT}"
    with storage_errors(f"record a session in the cube {handle.location}"):
        stored = handle.backend.read_many([key])
        before = _attributes(stored[key]) if stored else {"started": now(), "host_marks": []}
        marks = {_mark(handle.id, host) for host in hosts} | set(before["host_marks"])
        content = (
            before | environment(handle.spec) | {"updated": now(), "host_marks": sorted(marks)}
        )
        handle.backend.write({key: group_document(content)})
    return name


def read_provenance(cube: AnyCube) -> Provenance:
    """Return where a cube's results come from; damaged records of sessions are left out.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     read_provenance(f"{folder}/cube.zarr").fingerprint == spec.fingerprint
    True
    """
    handle = as_handle(cube)
    attributes = handle.group.attrs.asdict()
    with storage_errors(f"read the sessions of the cube {handle.location}"):
        keys = (key for key in handle.backend.keys(SESSIONS) if key.endswith(f"/{DOCUMENT}"))
        records = handle.backend.read_many(key for key in keys if key != f"{SESSIONS}/{DOCUMENT}")
        sessions = sorted(_readable(records.values()), key=lambda record: str(record["started"]))
    times = [str(attributes["updated"]), *(str(record["updated"]) for record in sessions)]
    marks = {mark for record in sessions for mark in record.pop("host_marks")}
    return Provenance(
        handle.spec,
        str(attributes["fingerprint"]),
        str(attributes["created"]),
        max(times),
        len(marks),
        tuple(sessions),
    )


def _mark(cube_id: str, host: str) -> str:
    return hashlib.sha256(f"{cube_id} {host}".encode()).hexdigest()[:16]


def _readable(documents: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield the records that can be read. A power cut may empty the newest ones."""
    for document in documents:
        with suppress(ValueError, KeyError, TypeError):
            record = _attributes(document)
            if record.keys() >= {"started", "updated", "host_marks", *environment()}:
                yield record


def _attributes(document: bytes) -> dict[str, Any]:
    return dict(json.loads(document)["attributes"])
