"""Small file systems, mounted for a test."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """Mount a small file system; skip the test if that is not allowed."""
    folder.mkdir()
    if not _ran("mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)):
        pytest.skip("mounting a file system needs root")
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
