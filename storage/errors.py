"""The errors of this layer; `pipeline.core.errors` has the base of the family."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.core.errors import ImwkError

#: What to do about damaged tiles; messages of this layer end with it.
REPAIR = (
    "Mark damaged tiles as missing with storage.verify_cube(cube, repair=True), or on the command "
    "line with imwk verify CUBE --repair, then submit the sweep again."
)


class CubeError(ImwkError):
    """A cube cannot be created, read or written; the message says why and what to do."""


class CubeNotFoundError(CubeError, FileNotFoundError):
    """There is no cube at a location."""


class CubeMismatchError(CubeError, ValueError):
    """A spec does not fit the cube that it was given with; the message lists the differences."""


class DamagedCubeError(CubeError):
    """Something that is stored in a cube cannot be read back as it was written."""


@contextmanager
def disk_errors(doing: str) -> Iterator[None]:
    """Raise `CubeError` where a disk fails.

    Examples
    --------
    >>> with disk_errors("write the tile Iris"):
    ...     raise OSError(28, "No space left on device")
    Traceback (most recent call last):
    storage.errors.CubeError: Cannot write the tile Iris: No space left on device. Check the \
folder, the free space on the disk and your permissions, then try again.
    """
    try:
        yield
    except ImwkError:  # it may be an OSError too, and its message is complete
        raise
    except OSError as error:
        raise CubeError(
            f"Cannot {doing}: {error.strerror or error}. Check the folder, the free space on the "
            "disk and your permissions, then try again."
        ) from error


@contextmanager
def storage_errors(doing: str) -> Iterator[None]:
    """Raise `CubeError` where a disk fails and `DamagedCubeError` where a file is damaged.

    Wrap only what reads, decodes or stores arrays: Zarr and JSON raise such errors for damaged
    files, but in code of this project they are bugs. Wrap that code in `disk_errors`.

    Examples
    --------
    >>> with storage_errors("read the tile Iris"):
    ...     raise ValueError("checksum mismatch")
    Traceback (most recent call last):
    storage.errors.DamagedCubeError: Cannot read the tile Iris, because the cube is damaged: \
checksum mismatch. Mark damaged tiles as missing with storage.verify_cube(cube, repair=True), or \
on the command line with imwk verify CUBE --repair, then submit the sweep again.
    """
    try:
        with disk_errors(doing):
            yield
    except ImwkError:  # it may be a ValueError too, and its message is complete
        raise
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        raise DamagedCubeError(
            f"Cannot {doing}, because the cube is damaged: {str(error).rstrip('.')}. {REPAIR}"
        ) from error
