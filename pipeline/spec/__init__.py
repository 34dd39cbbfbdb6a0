"""The spec: what a sweep is, as people write it and as it is computed."""

from pipeline.spec.draft import Sweep
from pipeline.spec.model import (
    PAPER_NORMALISATIONS,
    PARTS,
    RESTARTED,
    SweepSpec,
    Tile,
)
from pipeline.spec.sources import MatrixFacts
from pipeline.spec.toml import parse_spec, parse_sweep, read_spec, read_sweep

__all__ = [
    "PAPER_NORMALISATIONS",
    "PARTS",
    "RESTARTED",
    "MatrixFacts",
    "Sweep",
    "SweepSpec",
    "Tile",
    "parse_spec",
    "parse_sweep",
    "read_spec",
    "read_sweep",
]
