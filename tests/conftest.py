"""What all tests share: the hypothesis profile and the folder with published data."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# The same examples everywhere: a red run can be repeated, and the counts in docs stay true.
settings.register_profile("house", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("house")


@pytest.fixture(scope="session")
def shared() -> Path:
    """Return the folder with the paper's figures, real data sets and golden labels."""
    folder = os.environ.get("IMWK_SHARED")
    if folder is None:
        pytest.skip("IMWK_SHARED is not set: the published data lie beside the project in CI only")
    path = Path(folder)
    assert path.is_dir(), f"IMWK_SHARED names {path}, which is no folder"
    return path
