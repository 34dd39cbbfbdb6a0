"""Measure what reads a paper-size cube, pictures too: `python -m benchmarks.reading`.

Each runs in a process of its own, so that its peak of memory is its own too.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import click

from benchmarks.cube import PAPER, fill
from pipeline.spec import SweepSpec
from storage import create_cube
from workflows.cli.main import main as imwk


def commands(cube: str, folder: str) -> dict[str, list[str]]:
    """Return what is measured, by name."""
    return {
        "tables": ["tables", cube, "--format", "csv"],
        "heatmaps": ["heatmaps", cube, "-o", f"{folder}/heatmaps"],
        "export to Parquet": ["export", cube, f"{folder}/out.parquet"],
        "export to CSV": ["export", cube, f"{folder}/out.csv"],
        "best average of all": ["query", cube, "--best", "--average"],
        "report": ["report", cube, "-o", f"{folder}/out.html"],
        "one mean": ["query", cube, "--average", "--config", "1000x6-3", "--p1", "2", "--p2", "2"],
    }


def measured(arguments: list[str]) -> tuple[float, float, float]:
    """Run a command in a new process; return wall and CPU seconds, and its peak of memory in MB."""
    start = perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--run", json.dumps(arguments)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    cpu_seconds, megabytes = map(float, done.stderr.splitlines()[-1].split())
    return perf_counter() - start, cpu_seconds, megabytes


def run(arguments: list[str]) -> None:
    """Run a command here, and print CPU seconds and the peak of memory in MB to stderr."""
    imwk(arguments, standalone_mode=False)
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, file=sys.stderr)


@click.command()
@click.option("--cube", help="A cube that is there; without it one is made, in minutes.")
@click.option("--run", "arguments", hidden=True)
def main(cube: str | None, arguments: str | None) -> None:
    """Measure in a temporary folder, and print the figures."""
    if arguments:
        run(json.loads(arguments))
        return
    with TemporaryDirectory() as folder:
        location = cube or f"{folder}/cube.zarr"
        if not cube:
            spec = SweepSpec.model_validate({"datasets": PAPER})
            create_cube(location, spec)
            fill(Path(location), spec)
        for name, command in commands(location, folder).items():
            seconds, cpu_seconds, megabytes = measured(command)
            print(f"{name:22}{seconds:8.1f} s {cpu_seconds:8.1f} s CPU {megabytes:8.0f} MB")
        for path in sorted(Path(folder).glob("out.*")):
            print(f"{path.name:22}{path.stat().st_size / 1e6:8.0f} MB")


if __name__ == "__main__":
    main()
