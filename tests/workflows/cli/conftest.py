"""The small sweep as a spec file, and its cube."""

from pathlib import Path

import pytest

from tests.workflows.cli.small import SPEC, written
from workflows import submit


@pytest.fixture
def spec_file(tmp_path: Path) -> Path:
    """Return the spec file of the small sweep."""
    return written(SPEC, tmp_path / "spec.toml")


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return the complete cube of the small sweep."""
    location = tmp_path / "cube.zarr"
    submit(SPEC, location, workers=0)
    return location
