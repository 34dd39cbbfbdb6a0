"""From a cube's location, a path or a URL, to the backend that stores it."""

from pathlib import Path
from urllib.parse import urlsplit

from storage.backends.folder import FolderBackend
from storage.backends.protocol import Backend
from storage.errors import CubeError

#: A folder's path, or a URL of an object store such as ``s3://bucket/cube.zarr``.
CubeLocation = str | Path


def backend_at(location: CubeLocation) -> Backend:
    """Return the backend for a location; nothing needs to be stored there yet.

    Examples
    --------
    >>> backend_at("not-yet-created.zarr").is_taken()
    False
    >>> backend_at("file:///results/quick.zarr")
    Traceback (most recent call last):
    storage.errors.CubeError: file:///results/quick.zarr is the URL of a local file. Give its path.
    """
    if not is_url(location):
        return FolderBackend(Path(location))
    url = urlsplit(str(location))
    if url.scheme == "file":
        # Through fsspec or obstore, writes to it would not survive a kill.
        raise CubeError(f"{location} is the URL of a local file. Give its path.")
    # These characters hint at a secret, but URLs of Azure have an @ before the account.
    suspicious = set("?#" if url.scheme.startswith("abfs") else "@?#")
    if url.password is not None or suspicious & set(str(location)):
        raise CubeError(
            f"A {url.scheme}:// URL with @, ? or # was given. Keep secrets out of URLs, which are "
            "shown and stored: set them in the environment."
        )
    try:
        from storage.backends.objects import object_backend
    except ModuleNotFoundError as error:
        raise CubeError(
            f"The cube {location} needs obstore: pip install 'imwk-sweep[cloud]'."
        ) from error
    return object_backend(str(location).rstrip("/"))


def absolute(location: CubeLocation) -> str:
    """Return a location that does not depend on the current folder.

    Examples
    --------
    >>> absolute("s3://bucket/cube.zarr")
    's3://bucket/cube.zarr'
    >>> absolute("cube.zarr") == str(Path.cwd() / "cube.zarr")
    True
    """
    return str(location) if is_url(location) else str(Path(location).absolute())


def is_url(location: CubeLocation) -> bool:
    """Return whether a location is a URL rather than a path.

    Examples
    --------
    >>> is_url("s3://bucket/cube.zarr"), is_url("cube.zarr")
    (True, False)
    """
    return "://" in str(location)
