"""Fixtures for tests of the inner parts of the core."""

from collections.abc import Iterator

import pytest

from pipeline.core.minkowski import zeros_have_powers


@pytest.fixture(scope="module")
def as_public_functions_call() -> Iterator[None]:
    """Allow powers of zeros, as the public functions do before they call inner parts."""
    with zeros_have_powers():
        yield
