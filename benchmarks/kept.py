"""Measure the labels and weights that cubes keep: `python -m benchmarks.kept`.

Three tables of 1,000 rows are swept with the default settings: four normalisations and 40 x 40
exponents, which takes minutes. One tile of 100,000 rows is written with made-up labels.
"""

import resource
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
import xarray as xr
import zarr
from numpy.typing import NDArray
from zarr.codecs import Crc32cCodec, ZstdCodec
from zarr.core.buffer import Buffer
from zarr.storage import MemoryStore

from benchmarks.cube import seconds
from pipeline.datasets import Table, synthetic_dataset
from pipeline.execution.block import Arrays, BlockResult
from pipeline.spec.blocks import Block, split_block, whole_tile
from pipeline.spec.sweep import Sweep
from storage import create_cube, labels, verify_cube, weights
from storage.layout.kept import LABEL_LEVEL
from storage.layout.schema import RESULTS
from storage.layout.skeleton import DOCUMENT
from storage.tiles import write_tile
from workflows import submit

#: Synthetic data as if they were a user's table.
TABLES = ("1000x6-3", "1000x12-6 +6NF", "1000x20-10 +10NF")
#: The large table, and the share of its rows whose labels differ between two neighbouring runs.
ROWS, FEATURES, CLUSTERS, MOVED = 100_000, 10, 5, 0.01


def megabytes(folder: Path, pattern: str) -> float:
    """Return the size of some files."""
    return sum(path.stat().st_size for path in folder.glob(pattern) if path.is_file()) / 1e6


def sweep_of(name: str) -> Sweep:
    """Return the sweep of a synthetic data set, without its classes."""
    made = synthetic_dataset(name, 0, 2020)
    features = tuple(f"feature {number}" for number in range(made.X.shape[1]))
    return Sweep.of({"mine": Table(made.X, features)}, len(np.unique(made.y)))


def measure_table(name: str, cube: Path) -> None:
    """Sweep a table, and print the size of its cube and the time to read it."""
    submit(sweep_of(name), cube, workers=0)
    print(name)
    print(f"{megabytes(cube, '**/*'):8.2f} MB in all")
    for what, read in (("labels", labels), ("weights", weights)):
        reading = seconds(partial(read_all, read, cube))
        print(f"{megabytes(cube, f'kept/*/*_{what}/*'):8.2f} MB of {what}, {reading:.2f} s to read")

    print(f"{in_a_list(cube):8.2f} MB of labels if different labellings were stored once")


def in_a_list(cube: Path) -> float:
    """Return the MB of a list of the different labellings of every tile, and of their numbers."""
    stored, size = labels(cube).load(), 0
    for tile in stored.stack(tile=("dataset", "normalisation")).transpose("tile", ...):
        runs = tile.values.reshape(-1, tile.sizes["row"]).astype(np.uint8)
        different, numbers = np.unique(runs, axis=0, return_inverse=True)
        size += compressed(different) + compressed(numbers.astype(np.uint16))
    return size / 1e6


def compressed(values: NDArray[Any]) -> int:
    """Return the number of bytes of values in a cube."""
    contents: dict[str, Buffer] = {}
    codecs = [ZstdCodec(level=LABEL_LEVEL), Crc32cCodec()]
    store = MemoryStore(contents)
    zarr.create_array(store, data=values, chunks=values.shape, compressors=codecs)
    return sum(len(chunk) for key, chunk in contents.items() if key != DOCUMENT)


def read_all(read: Callable[..., xr.DataArray], cube: Path) -> None:
    """Read what is kept of all runs of imwk-means."""
    for part in ("imwk", "rescaled_imwk"):
        read(cube, part=part).load()


def made_up(block: Block, rng: np.random.Generator) -> BlockResult:
    """Return results of a block: labels that change a little from run to run, random weights."""
    lengths = {"p1": len(block.p1), "p2": len(block.p2)}
    arrays: Arrays = {
        name: np.ones([lengths[dim] for dim in variable.dims], dtype=np.uint16)
        for name, variable in RESULTS.items()
        if variable.part in block.parts
    }
    for part, dims in (("imwk", ("p1",)), ("rescaled_imwk", ("p1", "p2"))):
        runs = [lengths[dim] for dim in dims]
        weights_of_runs = rng.dirichlet(np.ones(FEATURES), size=(*runs, CLUSTERS))
        arrays |= {
            f"{part}_labels": made_up_labels(runs, rng),
            f"{part}_converged": np.ones(runs, dtype=np.int8),
            f"{part}_weights": weights_of_runs.astype(np.float32),
        }
    return BlockResult(block, arrays, 1.0)


def made_up_labels(runs: list[int], rng: np.random.Generator) -> NDArray[np.uint8]:
    """Return labels of some runs, in which each differs a little from the one before."""
    row = rng.integers(CLUSTERS, size=ROWS)
    values = np.empty((*runs, ROWS), dtype=np.uint8)
    for run in np.ndindex(*runs):
        moved = rng.integers(ROWS, size=int(MOVED * ROWS))
        row[moved] = rng.integers(CLUSTERS, size=len(moved))
        values[run] = row
    return values


def peak() -> float:
    """Return the peak of memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000


def measure_large(cube: Path) -> None:
    """Write, verify and read one tile of a large table, and print the figures."""
    rng = np.random.default_rng(1)
    features = tuple(f"feature {number}" for number in range(FEATURES))
    classes, names = np.arange(ROWS) % CLUSTERS, tuple(map(str, range(CLUSTERS)))
    table = Table(rng.normal(size=(ROWS, FEATURES)), features, classes, names)
    sweep = Sweep.of({"mine": table}, normalisations=["range"], restarts=0, scores=[])
    create_cube(cube, sweep.spec, sweep.tables)
    (tile,) = sweep.spec.tiles
    blocks = split_block(whole_tile(sweep.spec, tile), 10)
    results = [made_up(block, rng) for block in blocks]
    before = peak()
    writing = seconds(lambda: write_tile(cube, tile, results), times=1)
    print(f"{ROWS:,} rows, a tile of 40 x 40 exponents")
    print(f"{megabytes(cube, 'kept/**/*'):8.2f} MB of labels and weights")
    print(f"{writing:8.2f} s to write, and {peak() - before:.0f} MB of memory")
    print(f"{seconds(lambda: verify_cube(cube), times=1):8.2f} s to verify")
    print(f"{seconds(lambda: labels(cube, p1=2, p2=2).load()):8.2f} s to read one labelling")


@click.command()
@click.option("--large", is_flag=True, help="Measure the large table only.")
def main(large: bool) -> None:
    """Measure in a temporary folder, and print the figures."""
    with TemporaryDirectory() as folder:
        measure_large(Path(folder) / "large.zarr")
        for number, name in enumerate(() if large else TABLES):
            measure_table(name, Path(folder) / f"{number}.zarr")


if __name__ == "__main__":
    main()
