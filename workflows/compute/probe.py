"""Check that every worker can take part in a sweep, before anything runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from distributed import Client

from pipeline.core.errors import ImwkError
from pipeline.spec.plugins import missing_plugin
from storage.control import check_access
from storage.handle import AnyCube, as_handle, read_spec
from storage.provenance import environment
from workflows.errors import WorkersError

PROJECT = "imwk-sweep"


@dataclass(frozen=True)
class Probe:
    """The versions of packages that a process has, and why it cannot take part, if so.

    Attributes
    ----------
    versions : mapping of str to str
        By package.
    trouble : str or None
        Why the process cannot use the cube.
    missing : str or None
        Which plug-in of the sweep it lacks, and what to install.
    """

    versions: Mapping[str, str]
    trouble: str | None
    missing: str | None = None


def probe(location: str, wanted: str) -> Probe:
    """Return the versions of this process, and whether it can use the cube and has its plug-ins."""
    versions = environment()["versions"]
    try:
        check_access(location, wanted)
        spec = read_spec(location)
    except ImwkError as error:
        return Probe(versions, str(error))
    return Probe(versions, None, missing_plugin(spec.plugins, spec.clusterers))


def check_workers(client: Client, cube: AnyCube) -> None:
    """Raise an error if a worker cannot take part.

    Parameters
    ----------
    client : distributed.Client
        The client of the workers.
    cube : path, URL or CubeHandle
        The cube, at a location where the workers can find it too.

    Raises
    ------
    WorkersError
        If a worker has another version of this project or another major version of NumPy, lacks a
        plug-in of the sweep, or cannot write the cube.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> from workflows.compute import local_client
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder, local_client(workers=1) as client:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     check_workers(client, f"{folder}/cube.zarr")
    """
    handle = as_handle(cube)
    answers = client.run(probe, str(handle.location), handle.id, on_error="return")
    troubles = {
        worker: trouble for worker, found in answers.items() if (trouble := trouble_of(found))
    }
    if troubles:
        worker, trouble = next(iter(troubles.items()))
        more = f" (and {len(troubles) - 1} more of {len(answers)})" if len(troubles) > 1 else ""
        raise WorkersError(f"Worker {worker}{more} {trouble}")


def check_scheduler(client: Client, cube: AnyCube) -> None:
    """Raise an error if the scheduler's process cannot take part in a detached sweep."""
    handle = as_handle(cube)
    try:
        found = client.run_on_scheduler(probe, str(handle.location), handle.id)
    except Exception as error:  # any error of loading the probe in that process
        found = error
    trouble = trouble_of(found)
    if trouble:
        raise WorkersError(f"The scheduler {trouble}")


def trouble_of(found: Any) -> str | None:
    """Return why a process cannot take part, given the result of its probe; None if it can."""
    ours = environment()["versions"]
    if not isinstance(found, Probe):  # the error of loading the probe in that process
        return (
            f"cannot load {PROJECT} {ours[PROJECT]}: {found}. Install the same version of "
            f"{PROJECT} there."
        )
    theirs = found.versions
    if theirs[PROJECT] != ours[PROJECT]:
        return f"has {PROJECT} {theirs[PROJECT]}, not {ours[PROJECT]}. Install the same version."
    if _major(theirs["numpy"]) != _major(ours["numpy"]):
        return f"has NumPy {theirs['numpy']}, not {ours['numpy']}. Install the same version."
    if found.trouble:
        return (
            f"cannot use the cube. {found.trouble} Give a location that it can write: a shared "
            "folder, or an object store with credentials in its environment."
        )
    return found.missing


def _major(version: str) -> str:
    return version.split(".")[0]
