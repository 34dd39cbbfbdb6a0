"""What a sweep costs beside the core, and what a second worker brings: real sweeps with Dask."""

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

import psutil

from benchmarks.tables import Section
from pipeline.spec import SweepSpec
from storage import open_cube
from workflows import submit
from workflows.sweep import Event

#: Small data at the full grid, where tiles are shortest and overhead weighs most.
SPEC = SweepSpec(
    datasets={"synthetic": {"configs": ["1000x6-3", "1000x6-3 +3NF"], "count": 3}},
    normalisations=["range"],
)
TARGETS = "at most 1% beside the core, two workers at least 1.9 times one, on an idle machine"


@dataclass(frozen=True)
class Sweep:
    """Seconds from the moment when workers are ready until the last tile is in the cube."""

    workers: int
    wall_seconds: float
    cpu_seconds: float
    core_seconds: float
    beside_the_core: str


def measure() -> Section:
    """Run the same sweep with one worker and with two."""
    one, two = _sweep(1), _sweep(2)
    speedup = one.wall_seconds / two.wall_seconds
    return Section(
        "A sweep of six tiles of the smallest data, full grid, on local workers; CPU time of all "
        "processes.",
        [one, two],
        {"speedup": speedup},
        f"Two workers are {speedup:.2f} times as fast as one; targets: {TARGETS}.",
    )


def _sweep(workers: int) -> Sweep:
    moments: list[tuple[float, float]] = []

    def note(_: Event) -> None:
        moments.append((monotonic(), _cpu_seconds()))

    with TemporaryDirectory() as folder:
        cube = Path(folder) / "cube.zarr"
        submit(SPEC, cube, workers=workers, on_event=note)
        core = float(open_cube(cube).tile_seconds.sum())
    wall, cpu = (end - start for start, end in zip(moments[0], moments[-1], strict=True))
    return Sweep(workers, wall, cpu, core, f"{1 - core / cpu:.1%}")


def _cpu_seconds() -> float:
    """Return the CPU time of this process, where the scheduler runs, and of all workers."""
    this = psutil.Process()
    times = [process.cpu_times() for process in (this, *this.children(recursive=True))]
    return float(sum(time.user + time.system for time in times))
