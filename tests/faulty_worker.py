"""A preload module of Dask workers for tests: it counts blocks, delays them and breaks some.

Dask imports this where its setting `distributed.worker.preload` names it, and calls `dask_setup`.
What to do is in the variable `IMWK_FAULTS`; see `tests.faults.Faults`.
"""

import json
import os
import signal
from itertools import count
from pathlib import Path
from time import sleep
from typing import Any
from unittest.mock import patch

import dask
import zarr
from distributed import Worker

from pipeline.datasets import Table
from pipeline.execution.block import BlockResult, run_block
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block
from storage.handle import AnyCube
from storage.ledger import is_done
from storage.tiles import write_tile
from workflows.compute.worker_settings import QUIET, WORKER_ENVIRONMENT


def dask_setup(_: Worker) -> None:
    """Replace functions by faulty ones, and log the settings of Dask."""
    told = {name: dask.config.get(name) for name in QUIET} | {
        name: os.environ.get(name) for name in WORKER_ENVIRONMENT
    }
    Path(f"{json.loads(os.environ['IMWK_FAULTS'])['log']}.told").write_text(json.dumps(told))
    patch("pipeline.execution.tile_tasks.run_block", faulty_block).start()
    patch("workflows.cube_store.write_tile", faulty_write).start()


def faulty_block(spec: SweepSpec, block: Block, table: Table | None) -> BlockResult:
    """Log that a block is computed, then apply the faults in `IMWK_FAULTS`."""
    faults = json.loads(os.environ["IMWK_FAULTS"])
    name = str(block.tile)
    entry = {"tile": name, "p1": block.p1, "done": is_done(faults["cube"], block.tile)}
    calls = _append(Path(faults["log"]), entry)
    sleep(faults["sleep"])
    if name == faults["kills"]:
        os.kill(os.getpid(), signal.SIGKILL)
    if name == faults["raises"] and sum(call["tile"] == name for call in calls) <= 2:
        raise RuntimeError("this block raises on its first 2 calls")
    return run_block(spec, block, table)


def faulty_write(cube: AnyCube, tile: Tile, results: Any) -> None:
    """Write a tile, but kill the process during the first write of the tile in `IMWK_FAULTS`."""
    faults = json.loads(os.environ["IMWK_FAULTS"])
    died = Path(f"{faults['log']}.died")
    if str(tile) != faults["kills_writing"] or died.exists():
        write_tile(cube, tile, results)
        return
    written, assign = count(1), zarr.Array.__setitem__

    def assign_and_die(*arguments: Any) -> None:
        assign(*arguments)
        if next(written) == 3:
            died.touch()
            os.kill(os.getpid(), signal.SIGKILL)

    with patch.object(zarr.Array, "__setitem__", assign_and_die):
        write_tile(cube, tile, results)


def _append(log: Path, entry: dict[str, object]) -> list[dict[str, object]]:
    with log.open("a") as file:
        file.write(json.dumps(entry) + "\n")
    return [json.loads(line) for line in log.read_text().splitlines()]
