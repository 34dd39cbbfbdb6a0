"""The definition of a sweep: as people write it, and validated for computing."""

from pipeline.spec.model import (
    KEEP,
    PAPER_NORMALISATIONS,
    RESTARTED,
    SweepSpec,
    Tile,
)
from pipeline.spec.pluggable import PARTS
from pipeline.spec.sources import TableFacts
from pipeline.spec.sweep import Sweep
from pipeline.spec.toml import (
    SpecFile,
    parse_spec_file,
    read_spec,
    read_spec_file,
    read_sweep,
)

__all__ = [
    "KEEP",
    "PAPER_NORMALISATIONS",
    "PARTS",
    "RESTARTED",
    "SpecFile",
    "Sweep",
    "SweepSpec",
    "TableFacts",
    "Tile",
    "parse_spec_file",
    "read_spec",
    "read_spec_file",
    "read_sweep",
]
