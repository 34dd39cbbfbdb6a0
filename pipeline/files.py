"""Files that are written whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

from pipeline.errors import OutputError


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path beside `path`, and rename it when all is written: whole or not there."""
    beside = path.with_name(f".{path.name}.{uuid4().hex}.partial")
    try:
        yield beside
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all, in a folder that is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as beside:
        write_durably(beside, content)


def write_durably(path: Path, content: bytes) -> None:
    """Write a file that outlasts a power cut, in a folder that is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def output_errors(path: Path) -> Iterator[None]:
    """Raise `OutputError` where the file `path`, which a user asked for, cannot be written.

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
    except OSError as error:
        raise OutputError(
            f"Cannot write {path}: {error.strerror or error}. Check the folder, the free space "
            "on the disk and your permissions, then try again."
        ) from error
