"""Common to all tests: the hypothesis profile and the folder with published data."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples everywhere, so that a failure can be repeated and counts in docs stay true.
settings.register_profile("project", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("project")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with published values, real data sets and golden labels."""
    folder = os.environ.get("IMWK_SHARED")
    if folder is None:
        pytest.skip("IMWK_SHARED is not set. It names the folder with published data.")
    path = Path(folder)
    assert path.is_dir(), f"IMWK_SHARED is {path}, which is not a folder"
    return path
