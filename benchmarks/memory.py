"""Peak memory of a worker that computes the largest tile of the paper: a real `imwk submit`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep

import psutil

from benchmarks.tables import Section

LARGEST = "1000x20-10 +10NF"
TARGET = 250.0
#: One tile at the full grid.
SPEC = f"""
normalisations = ["range"]
datasets.synthetic = {{ configs = ["{LARGEST}"], count = 1 }}
"""
#: Workers import the main module: with that of the benchmarks they would also load scikit-learn.
IMWK = "import sys; from workflows.cli import main; sys.exit(main())"


@dataclass(frozen=True)
class Peak:
    """Megabytes of resident memory at the most."""

    data: str
    peak_MB: float  # noqa: N815 (the name is a heading)
    target_MB: float  # noqa: N815


def measure() -> Section:
    """Watch the worker of a sweep in a process of its own."""
    with TemporaryDirectory() as folder:
        spec, cube = Path(folder) / "spec.toml", Path(folder) / "cube.zarr"
        spec.write_text(SPEC)
        command = [sys.executable, "-c", IMWK, "submit", str(spec), str(cube), "--workers", "1"]
        with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as sweep:
            peak = max(_peaks(psutil.Process(sweep.pid)))
    if sweep.returncode:
        raise RuntimeError(f"imwk submit ended with exit code {sweep.returncode}.")
    return Section(
        "Peak resident memory of a worker of imwk submit, with Dask, that computes a tile of the "
        "largest data of the paper at the full grid, float64.",
        [Peak(LARGEST, peak, TARGET)],
    )


def _peaks(sweep: psutil.Process) -> Iterator[float]:
    """Yield the peak of its largest child so far, until a process ends."""
    while sweep.is_running() and sweep.status() != psutil.STATUS_ZOMBIE:
        for child in sweep.children(recursive=True):
            with suppress(OSError, StopIteration):  # it has just ended
                yield _peak_megabytes(child.pid)
        sleep(0.2)


def _peak_megabytes(pid: int) -> float:
    """Return the most memory that a process had, as Linux tells it.

    Not by `getrusage`: a process inherits the peak of the one that started it.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    kilobytes = next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM"))
    return int(kilobytes) * 1024 / 1e6
