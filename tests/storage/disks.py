"""Small file systems of our own, where one may be mounted."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a few blocks; skip the test where that is not allowed."""
    folder.mkdir()
    if not _ran("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)):
        pytest.skip("mounting a small file system needs the rights of root")
    try:
        yield folder
    finally:
        _ran("umount", str(folder))


def make_read_only(folder: Path) -> None:
    """Refuse all writes to a mounted file system."""
    assert _ran("mount", "-o", "remount,ro", str(folder))


def _ran(command: str, *arguments: str) -> bool:
    program = shutil.which(command)
    if program is None:
        return False
    return subprocess.run([program, *arguments], capture_output=True, check=False).returncode == 0
