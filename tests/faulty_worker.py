"""Loaded into Dask workers by tests of faults: it counts blocks, slows them down and breaks some.

Dask imports this where its setting `distributed.worker.preload` names it, and calls `dask_setup`.
What to do is in the variable `IMWK_FAULTS`; see `tests.faults.Faults`.
"""

import json
import os
import signal
from pathlib import Path
from time import sleep
from unittest.mock import patch

from distributed import Worker

from pipeline.block import Block, BlockResult, run_block
from pipeline.datasets import Table
from pipeline.spec import SweepSpec
from storage import is_done


def dask_setup(_: Worker) -> None:
    """Put the faulty `run_block` in the place of the real one."""
    patch("pipeline.graph.run_block", faulty_block).start()


def faulty_block(spec: SweepSpec, block: Block, table: Table | None) -> BlockResult:
    """Write down that a block is computed, then do as `IMWK_FAULTS` says."""
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


def _append(log: Path, entry: dict[str, object]) -> list[dict[str, object]]:
    with log.open("a") as file:
        file.write(json.dumps(entry) + "\n")
    return [json.loads(line) for line in log.read_text().splitlines()]
