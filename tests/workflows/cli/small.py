"""A sweep of two tiles that takes a moment."""

from pathlib import Path
from typing import Any

from pipeline.spec import SweepSpec
from storage.tiles import mark_failed, mark_missing


def sweep(**changes: Any) -> SweepSpec:
    """Return the sweep, with some keys changed."""
    values = {"normalisations": ["range"], "parts": ["imwk"], "p1": [1.5, 2], **changes}
    datasets = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    return SweepSpec.model_validate({**values, "datasets": datasets})


SPEC = sweep()
FIRST, SECOND = SPEC.tiles


def written(spec: SweepSpec, file: Path) -> Path:
    """Write a spec as TOML."""
    file.write_text(spec.to_toml())
    return file


def make_first_fail(cube: Path) -> None:
    """Mark the first tile of a complete cube as failed."""
    mark_missing(cube, [FIRST])
    mark_failed(cube, FIRST, "the reason")
