"""Peak memory of a process that computes as a worker does: `python -m benchmarks.memory`."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import Section
from pipeline.execution.block import run_block
from pipeline.execution.plan import default_block_size
from pipeline.spec import SweepSpec
from pipeline.spec.blocks import split_block, whole_tile

LARGEST = "1000x20-10 +10NF"
TARGET = 400.0


@dataclass(frozen=True)
class Peak:
    """Megabytes of resident memory at the most."""

    data: str
    peak_MB: float  # noqa: N815 (the name is a heading)
    target_MB: float  # noqa: N815


def measure() -> Section:
    """Compute in a fresh process, so that the peak is its own."""
    command = [sys.executable, "-m", "benchmarks.memory"]
    child = subprocess.run(command, check=True, capture_output=True, text=True)
    return Section(
        "Peak resident memory of a process that computes a block of the largest shape, float64.",
        [Peak(LARGEST, float(child.stdout), TARGET)],
    )


def _compute_block() -> None:
    """Compute a block as a worker does: all need as much, so that one shows the peak."""
    spec = SweepSpec(
        datasets={"synthetic": {"configs": [LARGEST], "count": 1}}, normalisations=["range"]
    )
    whole = whole_tile(spec, spec.tiles[0])
    run_block(spec, split_block(whole, default_block_size(spec))[0])


def _peak_megabytes() -> float:
    """Return the most memory that this process had, as Linux tells it.

    Not by `getrusage`: a process inherits the peak of the one that started it.
    """
    status = Path("/proc/self/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) * 1024 / 1e6


if __name__ == "__main__":
    _compute_block()
    print(f"{_peak_megabytes():.0f}")
