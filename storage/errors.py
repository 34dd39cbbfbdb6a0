"""What can be wrong with a cube: part of the one family of errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from pipeline.core.errors import ImwkError


class CubeError(ImwkError):
    """A cube cannot be made, read or written; the message says why and what to do."""


class CubeMismatchError(CubeError):
    """A spec does not fit the cube it was given with; the message lists the differences."""


class DamagedCubeError(CubeError):
    """Something stored cannot be read back as it was written."""


@contextmanager
def storage_errors(doing: str) -> Iterator[None]:
    """Say which work on a cube failed, for errors of the disk and of damaged files alike."""
    try:
        yield
    except ImwkError:  # some are ValueErrors, and say already what is wrong
        raise
    except OSError as error:
        raise CubeError(
            f"Cannot {doing}: {error.strerror or error}. Check the folder, the disk's space and "
            "your rights, then try again."
        ) from error
    except (ValueError, RuntimeError, TypeError, KeyError) as error:
        raise DamagedCubeError(
            f"Cannot {doing}, it is damaged: {error} Find and mark what is damaged by "
            "imwk verify CUBE --repair, then submit again."
        ) from error
