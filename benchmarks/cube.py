"""Measure a cube of the paper's size, filled with made-up tiles: `python -m benchmarks.cube`."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter

import click
import numpy as np

from pipeline.execution.block import BlockResult
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import whole_tile
from storage import create_cube, open_cube, read_ledger, verify_cube
from storage.layout.schema import RESULTS
from storage.tiles import write_tile

PAPER = {"synthetic": {"configs": "all", "count": 50}}
#: Digits of made-up results are random: real ones repeat themselves and are compressed better.
SEED = 1
TIMES = 5


@dataclass(frozen=True)
class Figures:
    """What was measured; seconds are medians of several calls, but for the filling."""

    tiles: int
    files: int
    megabytes: float
    megabytes_on_disk: float
    create_seconds: float
    write_milliseconds_a_tile: float
    ledger_seconds: float
    open_seconds: float
    mean_of_a_configuration_seconds: float
    verify_seconds: float


def made_up_tile(spec: SweepSpec, tile: Tile, rng: np.random.Generator) -> BlockResult:
    """Return random results of a tile."""
    lengths = {"p1": len(spec.p1), "p2": len(spec.p2), "restart": spec.restarts}
    arrays = {}
    for name, variable in RESULTS.items():
        shape = [lengths[dim] for dim in variable.dims]
        counts = name.endswith("_clusters")
        arrays[name] = (
            rng.integers(1, 4 if counts else 60, size=shape)
            if variable.is_count
            else rng.uniform(-0.1, 1, size=shape)
        )
    return BlockResult(whole_tile(spec, tile), arrays, 1.0)


def fill(location: Path, spec: SweepSpec) -> None:
    """Write every tile of a sweep."""
    rng = np.random.default_rng(SEED)
    for tile in spec.tiles:
        write_tile(location, tile, [made_up_tile(spec, tile, rng)])


def seconds(work: Callable[[], object], times: int = TIMES) -> float:
    """Return the median wall time of a few calls."""
    spent = []
    for _ in range(times):
        start = perf_counter()
        work()
        spent.append(perf_counter() - start)
    return median(spent)


def mean_of_a_configuration(location: Path) -> float:
    """Open a cube and average the whole grid of one configuration."""
    cube = open_cube(location).sel(config="1000x12-6 +6NF")
    return float(cube.rescaled_imwk_ari.mean().compute())


def measure(location: Path) -> Figures:
    """Make a cube of the paper's size at `location`, and measure it."""
    spec = SweepSpec.model_validate({"datasets": PAPER})
    create = seconds(lambda: create_cube(location, spec), times=1)
    filling = seconds(lambda: fill(location, spec), times=1)
    sizes = [path.stat() for path in location.rglob("*")]
    files = sum(path.is_file() for path in location.rglob("*"))
    return Figures(
        len(spec.tiles),
        files,
        sum(size.st_size for size in sizes) / 1e6,
        sum(size.st_blocks * 512 for size in sizes) / 1e6,
        create,
        1000 * filling / len(spec.tiles),
        seconds(lambda: read_ledger(location)),
        seconds(lambda: open_cube(location)),
        seconds(lambda: mean_of_a_configuration(location)),
        seconds(lambda: verify_cube(location), times=1),
    )


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of lines.")
def main(as_json: bool) -> None:
    """Measure in a temporary folder, and print the figures."""
    with TemporaryDirectory() as folder:
        figures = asdict(measure(Path(folder) / "cube.zarr"))
    if as_json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' '):34}{value:10.4g}")


if __name__ == "__main__":
    main()
