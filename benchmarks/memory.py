"""Peak memory of a process that computes tiles as a worker will: `python -m benchmarks.memory`."""

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from benchmarks.grid import GRID
from benchmarks.tables import Section
from pipeline.core import (
    ImwkResult,
    adjusted_rand_index,
    imwk_grid,
    imwk_many,
    kmeans,
    normalise,
    rescale,
)
from pipeline.core.validation import FloatArray
from pipeline.datasets import CONFIGURATIONS, Dataset, synthetic_dataset

LARGEST = "1000x20-10 +10NF"
P1_IN_A_BLOCK = 5
#: Every block needs as much as any other: the first and the last are enough to see the peak.
BLOCKS = [GRID[:P1_IN_A_BLOCK], GRID[-P1_IN_A_BLOCK:]]
RESTARTS = 100
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
        "Peak resident memory of a process that computes a tile of the largest shape, float64.",
        [Peak(LARGEST, float(child.stdout), TARGET)],
    )


def _compute_tile() -> None:
    data, k = synthetic_dataset(LARGEST, 0, seed=2020), CONFIGURATIONS[LARGEST].clusters
    X = normalise(data.X, "range")
    runs = dict(zip(GRID, imwk_many(X, k, GRID), strict=True))
    adjusted_rand_index(data.y, kmeans(X, k, RESTARTS, seed=1).labels)
    for p1s in BLOCKS:
        _compute_block(data, X, k, [runs[p1] for p1 in p1s])


def _compute_block(data: Dataset, X: FloatArray, k: int, runs: list[ImwkResult]) -> None:
    Xs = [rescale(X, run.labels, run.weights) for run in runs]
    for results in imwk_grid(Xs, k, GRID):
        adjusted_rand_index(data.y, [result.labels for result in results])
    for rescaled in Xs:
        adjusted_rand_index(data.y, kmeans(rescaled, k, RESTARTS, seed=1).labels)


def _peak_megabytes() -> float:
    """Return the most memory that this process had, as Linux tells it.

    Not by `getrusage`: a process inherits the peak of the one that started it.
    """
    status = Path("/proc/self/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) * 1024 / 1e6


if __name__ == "__main__":
    _compute_tile()
    print(f"{_peak_megabytes():.0f}")
