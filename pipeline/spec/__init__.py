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
from pipeline.spec.toml import (
    SpecFile,
    parse_spec,
    parse_spec_file,
    parse_sweep,
    read_spec,
    read_spec_file,
    read_sweep,
)

__all__ = [
    "PAPER_NORMALISATIONS",
    "PARTS",
    "RESTARTED",
    "MatrixFacts",
    "SpecFile",
    "Sweep",
    "SweepSpec",
    "Tile",
    "parse_spec",
    "parse_spec_file",
    "parse_sweep",
    "read_spec",
    "read_spec_file",
    "read_sweep",
]
