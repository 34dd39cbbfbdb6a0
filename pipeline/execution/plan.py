"""The plan of a sweep: what it computes and what it costs, before it is run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from math import ceil, log10

from pipeline.core.validation import as_whole_number
from pipeline.datasets.tables.table import Tables
from pipeline.execution.pilots import run_pilots
from pipeline.execution.workload import RunCost, Workload, kept_bytes, tile_bytes
from pipeline.spec import SweepSpec
from pipeline.spec.blocks import split_block, whole_tile

#: Runs of imwk-means on rescaled data in a block: seconds to a minute in the paper's sweep.
RUNS_PER_BLOCK = 400
#: Cells of all data sets that a block rescales. More would not fit into the memory of a worker.
CELLS_PER_BLOCK = 20_000_000


@dataclass(frozen=True)
class Plan:
    """What a sweep computes and what it costs.

    Attributes
    ----------
    tiles, blocks, tasks : int
        Units of storage and of computing. Tasks are the blocks and one write per tile.
    block_size : int
        Number of p1 in a block.
    imwk_runs, kmeans_runs : int
        Runs of imwk-means, and restarts of k-means++.
    bytes : int
        Size of all results, with the labels and weights that are kept, uncompressed.
    cpu_seconds, longest_block_seconds : float
        Estimates from pilots.
    workers : int
        Number of workers that share the work.
    clusterer_runs : dict of str to int
        Runs of each clusterer.
    """

    tiles: int
    blocks: int
    tasks: int
    block_size: int
    imwk_runs: int
    kmeans_runs: int
    bytes: int
    cpu_seconds: float
    longest_block_seconds: float
    workers: int
    clusterer_runs: dict[str, int] = field(default_factory=dict)

    @property
    def core_hours(self) -> float:
        """CPU time in hours."""
        return self.cpu_seconds / 3600

    @property
    def wall_seconds(self) -> float:
        """Elapsed time if the longest block happens to come last."""
        shared = self.cpu_seconds / self.workers
        return shared + self.longest_block_seconds * (1 - 1 / self.workers)

    def to_json(self) -> str:
        """Return the plan as a JSON object."""
        derived = {"core_hours": self.core_hours, "wall_seconds": self.wall_seconds}
        return json.dumps(asdict(self) | derived, indent=2)

    def __str__(self) -> str:
        others = "".join(f", {runs:,} of {name}" for name, runs in self.clusterer_runs.items())
        return "\n".join(
            (
                f"{self.tiles:,} tiles in {self.blocks:,} blocks of up to {self.block_size} p1: "
                f"{self.tasks:,} tasks",
                f"{self.imwk_runs:,} runs of imwk-means, {self.kmeans_runs:,} of k-means++{others}",
                f"{_size(self.bytes)} of results before compression",
                f"{self.core_hours:,.2f} core-hours: {duration(self.wall_seconds)} "
                f"with {self.workers} workers",
            )
        )


def default_block_size(spec: SweepSpec) -> int:
    """Return the number of p1 in a block that is neither too small to schedule nor slow to redo.

    Examples
    --------
    >>> default_block_size(SweepSpec(datasets={"synthetic": {"configs": "all", "count": 50}}))
    10
    """
    cells = max(rows * features for rows, features, _ in map(spec.shape, spec.configs))
    most = min(RUNS_PER_BLOCK // len(spec.p2), CELLS_PER_BLOCK // cells)
    return min(len(spec.p1), max(1, most))


def make_plan(
    spec: SweepSpec,
    workers: int,
    block_size: int | None = None,
    costs: Mapping[str, RunCost] | None = None,
    tables: Tables | None = None,
) -> Plan:
    """Count what a sweep computes, and estimate what it costs.

    Parameters
    ----------
    spec : SweepSpec
        The sweep.
    workers : int
        Number of processes with one thread each, at least 1.
    block_size : int, optional
        Number of p1 in a block; `default_block_size` by default.
    costs : mapping of str to RunCost, optional
        By configuration, if they are known. By default pilots are run, which takes seconds.
    tables : mapping of str to Table, optional
        Tables by hash, for the pilots of configurations that are not synthetic.

    Returns
    -------
    Plan
        Print it for a summary.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": "all", "count": 50}})
    >>> print(make_plan(spec, 8, costs=dict.fromkeys(spec.configs, RunCost(0.05, 0.05, 0.001))))
    2,400 tiles in 9,600 blocks of up to 10 p1: 12,000 tasks
    3,936,000 runs of imwk-means, 9,840,000 of k-means++
    141.7 MB of results before compression
    57.40 core-hours: 7 h 10 min with 8 workers
    """
    size = default_block_size(spec) if block_size is None else block_size
    blocks = split_block(whole_tile(spec, spec.tiles[0]), as_whole_number(size, "block_size", 1))
    loads = [Workload.of(spec, block) for block in blocks]
    tile_counts = {
        config: spec.dataset_count(config) * len(spec.normalisations) for config in spec.configs
    }
    known = run_pilots(spec, size, tables) if costs is None else costs
    seconds = {config: [load.seconds(known[config]) for load in loads] for config in spec.configs}
    tiles = sum(tile_counts.values())
    return Plan(
        tiles=tiles,
        blocks=tiles * len(blocks),
        tasks=tiles * (len(blocks) + 1),
        block_size=size,
        imwk_runs=tiles * sum(load.imwk + load.rescaled_imwk for load in loads),
        kmeans_runs=tiles * sum(load.kmeans for load in loads),
        bytes=tiles * tile_bytes(spec)
        + sum(count * kept_bytes(spec, config) for config, count in tile_counts.items()),
        cpu_seconds=sum(count * sum(seconds[config]) for config, count in tile_counts.items()),
        longest_block_seconds=max(map(max, seconds.values())),
        workers=as_whole_number(workers, "workers", 1),
        clusterer_runs={
            name: tiles * sum(load.clusterers[name] for load in loads) for name in spec.clusterers
        },
    )


def _size(count: int) -> str:
    unit = min(int(log10(count)) // 3, 3)
    return f"{count / 1000**unit:,.4g} {('bytes', 'kB', 'MB', 'GB')[unit]}"


def duration(seconds: float) -> str:
    """Write a time span in the two largest units.

    Examples
    --------
    >>> duration(8.2), duration(95), duration(7444)
    ('9 s', '1 min 35 s', '2 h 4 min')
    """
    minutes, rest = divmod(ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours:,} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"
