"""What tests of the core's inner parts share."""

from collections.abc import Iterator

import pytest

from pipeline.core.minkowski import zeros_have_powers


@pytest.fixture(scope="module")
def as_public_functions_call() -> Iterator[None]:
    """Let zeros have powers, as the public functions do around what these tests call."""
    with zeros_have_powers():
        yield
