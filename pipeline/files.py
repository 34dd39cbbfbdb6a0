"""Atomic and durable writes of files."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from pipeline.core.errors import ImwkError
from pipeline.errors import OutputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path in the same folder, and rename it to `path` at the end."""
    partial = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically: it is either complete or unchanged. Create its folder if needed."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as partial:
        write_durably(partial, content)


def write_durably(path: Path, content: bytes) -> None:
    """Write a file and sync it to the disk, so that it survives a power cut."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Raise `OutputError` if `path`, an output that a user asked for, cannot be written.

    Examples
    --------
    >>> with output_errors(Path("labels.csv")):
    ...     raise PermissionError(13, "Permission denied")
    Traceback (most recent call last):
    pipeline.errors.OutputError: Cannot write labels.csv: Permission denied. Check the folder, \
the free space on the disk and your permissions, then try again.
    """
    try:
        yield
    except ImwkError:  # some are OSErrors, and say already what is wrong
        raise
    except OSError as error:
        raise OutputError(
            f"Cannot write {path}: {error.strerror or error}. Check the folder, the free space "
            "on the disk and your permissions, then try again."
        ) from error
