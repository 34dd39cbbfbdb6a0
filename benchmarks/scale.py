"""How far one scheduler reaches: many empty blocks on many workers: `python -m benchmarks.scale`.

The scheduler is a process of its own, so that its time and memory are known; all workers are in
this one. Blocks are empty, everything around them is that of a sweep. Requests to the store are
counted on a small sweep. From these figures and a plan follows what large sweeps need.
"""

import asyncio
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from time import monotonic, sleep

import click
import dask
import psutil
from distributed import Client, Worker
from distributed.utils import silence_logging_cmgr

from benchmarks.requests import Requests, count_requests
from benchmarks.tables import Section
from pipeline.datasets import Table
from pipeline.execution.dask import run_on_dask
from pipeline.execution.plan import Plan, default_block_size, make_plan
from pipeline.execution.tile_tasks import BlocksByTile, split_blocks
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import whole_tile
from storage.layout.schema import RESULTS
from workflows.compute.worker_settings import QUIET, worker_variables
from workflows.spec_files import load_sweep

#: Tiles of a first sweep, for which a scheduler loads what it needs for any.
WARM_UP = 50
#: Workers of the sweeps that are worked out.
WORKERS = 1000
#: Of a tile, beside its results: status, grid and CPU seconds.
OBJECTS_BESIDE = 3


class Nothing:
    """A store that wants no tile: blocks and writes are empty."""

    def is_wanted(self, _: Tile) -> bool:
        """Say no."""
        return False

    def table(self, tile: Tile) -> Table:
        """Refuse: there are none."""
        raise KeyError(tile)

    def write(self, *_: object) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Load:
    """What some empty blocks were for the scheduler."""

    workers: int
    blocks: int
    tasks: int
    wall_seconds: float
    scheduler_cpu_seconds: float
    megabytes_before: float
    scheduler_megabytes: float
    milliseconds_a_task: float
    kilobytes_a_task: float


@dataclass(frozen=True)
class Need:
    """What a sweep needs with many workers."""

    sweep: str
    tiles: int
    tasks: int
    core_hours: float
    hours: float
    scheduler_gigabytes: float
    scheduler_busy: str
    million_requests: float
    requests_a_second: float
    objects: int


def measure_load(blocks: int, workers: int) -> Load:
    """Run a sweep of so many empty blocks."""
    spec = load_sweep("paper").spec
    a_tile = -(-len(spec.p1) // default_block_size(spec))
    spec = _with_tiles(spec, blocks // a_tile)
    tiles = spec.tiles[: blocks // a_tile]
    jobs = split_blocks(
        {tile: [whole_tile(spec, tile)] for tile in tiles}, default_block_size(spec)
    )
    tasks = sum(len(parts) + 1 for parts in jobs.values())
    with (
        silence_logging_cmgr(logging.CRITICAL),
        dask.config.set(QUIET),
        _scheduler() as (address, process),
        _workers(address, workers),
        Client(address) as client,
    ):
        _run(client, spec, dict(islice(jobs.items(), WARM_UP)))
        memory, cpu, start = _peak_bytes(process), _cpu_seconds(process), monotonic()
        _run(client, spec, jobs)
        wall, spent = monotonic() - start, _cpu_seconds(process) - cpu
        peak = _peak_bytes(process)
    return Load(
        workers,
        tasks - len(tiles),
        tasks,
        wall,
        spent,
        memory / 1e6,
        peak / 1e6,
        1000 * spent / tasks,
        (peak - memory) / 1000 / tasks,
    )


def _run(client: Client, spec: SweepSpec, jobs: BlocksByTile) -> None:
    outcomes = run_on_dask(client, spec, jobs, Nothing())
    assert sum(outcome.error is None for outcome in outcomes) == len(jobs)


def _with_tiles(spec: SweepSpec, tiles: int) -> SweepSpec:
    count = -(-tiles // (len(spec.configs) * len(spec.normalisations)))
    data = {"synthetic": {"configs": spec.configs, "count": count}}
    return SweepSpec.model_validate(spec.model_dump() | {"datasets": data})


@contextmanager
def _scheduler() -> Iterator[tuple[str, psutil.Process]]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "scheduler.json"
        where = ("--host", "127.0.0.1", "--port", "0", "--scheduler-file", str(file))
        process = subprocess.Popen(
            [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard", *where],
            env=os.environ | worker_variables(),
            stderr=subprocess.DEVNULL,
        )
        try:
            while not file.exists():
                sleep(0.1)
            yield json.loads(file.read_text())["address"], psutil.Process(process.pid)
        finally:
            process.kill()
            process.wait()


@contextmanager
def _workers(address: str, count: int) -> Iterator[None]:
    """Run workers of one thread each in this process."""
    ready, over = Event(), Event()

    async def work() -> None:
        async with AsyncExitStack() as stack:
            for number in range(count):
                worker = Worker(address, nthreads=1, name=number, dashboard=False, memory_limit=0)
                await stack.enter_async_context(worker)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.1)

    thread = Thread(target=lambda: asyncio.run(work()))
    thread.start()
    ready.wait()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _cpu_seconds(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def _peak_bytes(process: psutil.Process) -> float:
    """Return the most memory that a process ever had, as Linux tells it."""
    for line in Path(f"/proc/{process.pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return 1024 * float(line.split()[1])
    raise RuntimeError("the system does not say how much memory a process had")


def needs(plan: Plan, load: Load, requests: dict[str, Requests]) -> list[Need]:
    """Work out what the planned sweep needs, and one a hundred times as large."""
    found = []
    for name, times in (("the paper's", 1), ("100 times", 100)):
        larger = replace(
            plan,
            tiles=times * plan.tiles,
            blocks=times * plan.blocks,
            tasks=times * plan.tasks,
            cpu_seconds=times * plan.cpu_seconds,
        )
        found.append(_need(name, larger, load, requests))
    return found


def _need(name: str, plan: Plan, load: Load, requests: dict[str, Requests]) -> Need:
    a_block, a_tile = requests["a block"], requests["a tile"]
    total = plan.blocks * (a_block.reads + a_block.writes)
    total += plan.tiles * (a_tile.reads + a_tile.writes)
    busy = plan.tasks * load.milliseconds_a_task / 1000 / plan.wall_seconds
    return Need(
        name,
        plan.tiles,
        plan.tasks,
        plan.core_hours,
        plan.wall_seconds / 3600,
        load.megabytes_before / 1e3 + plan.tasks * load.kilobytes_a_task / 1e6,
        f"{busy:.0%}",
        total / 1e6,
        total / plan.wall_seconds,
        plan.tiles * (len(RESULTS) + OBJECTS_BESIDE),
    )


@click.command()
@click.option("--blocks", default=100_000, show_default=True)
@click.option("--workers", default=32, show_default=True)
def main(blocks: int, workers: int) -> None:
    """Measure, and work out what large sweeps need."""
    load = measure_load(blocks, workers)
    _show("Empty blocks; time and memory of the scheduler's process.", [load])
    requests = count_requests()
    _show("Requests to an object store.", list(requests.values()))
    plan = make_plan(load_sweep("paper").spec, WORKERS)
    caption = f"With {WORKERS} workers, from these figures and `imwk plan paper`."
    _show(caption, needs(plan, load, requests))


def _show(caption: str, rows: Sequence[Load | Requests | Need]) -> None:
    print(Section(caption, rows).as_markdown(), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
