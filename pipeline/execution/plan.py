"""The plan: what a sweep will do and cost, before it is run."""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import cycle
from math import ceil, log10

from pipeline.core.errors import InvalidInputError
from pipeline.core.validation import as_whole_number
from pipeline.datasets import Table
from pipeline.datasets.tables.table import Tables
from pipeline.execution.block import Block, run_block, split_block, whole_tile
from pipeline.spec import RESTARTED, SweepSpec, Tile

#: Runs of imwk-means on rescaled data in a block: some seconds to a minute of the paper's sweep.
RUNS_PER_BLOCK = 400
#: Cells of all data sets that a block rescales: more would not fit the memory of a worker.
CELLS_PER_BLOCK = 20_000_000

#: A pilot takes p1 from all over the grid, but p2 in stretches of neighbours: lanes of like
#: exponents run together, and so it costs less than the same number from all over.
PILOT_P1, PILOT_STRETCHES, PILOT_NEIGHBOURS = 8, 2, 3
#: As many as k-means runs together.
PILOT_RESTARTS = 20
#: Of a larger table a pilot takes some rows: cost grows with their number.
PILOT_ROWS = 5_000

#: Bytes of one cell of a part in the cube: an index of agreement, and two counts with imwk-means.
CELL_BYTES = {"kmeans": 8, "imwk": 16, "rescaled_kmeans": 8, "rescaled_imwk": 16}
#: And of each score that needs no classes.
SCORE_BYTES = 8


@dataclass(frozen=True)
class RunCost:
    """CPU seconds of one run on the data of one configuration, as a pilot found them."""

    imwk: float
    kmeans: float


@dataclass(frozen=True)
class Plan:
    """What a sweep will do and cost.

    Attributes
    ----------
    tiles, blocks, tasks : int
        Units of storage and of computing; tasks are the blocks and one write for each tile.
    block_size : int
        Number of p1 in a block.
    imwk_runs, kmeans_runs : int
        Runs of imwk-means, and restarts of k-means++.
    bytes : int
        Of all results, uncompressed.
    cpu_seconds, longest_block_seconds : float
        Estimated from the pilots.
    workers : int
        That share the work.
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

    @property
    def core_hours(self) -> float:
        """CPU time in hours."""
        return self.cpu_seconds / 3600

    @property
    def wall_seconds(self) -> float:
        """Time until the end, if the longest block happens to come last."""
        shared = self.cpu_seconds / self.workers
        return shared + self.longest_block_seconds * (1 - 1 / self.workers)

    def to_json(self) -> str:
        """Return everything as a JSON object."""
        derived = {"core_hours": self.core_hours, "wall_seconds": self.wall_seconds}
        return json.dumps(asdict(self) | derived, indent=2)

    def __str__(self) -> str:
        return "\n".join(
            (
                f"{self.tiles:,} tiles in {self.blocks:,} blocks of up to {self.block_size} p1: "
                f"{self.tasks:,} tasks",
                f"{self.imwk_runs:,} runs of imwk-means, {self.kmeans_runs:,} of k-means++",
                f"{_size(self.bytes)} of results before compression",
                f"{self.core_hours:,.2f} core-hours: {duration(self.wall_seconds)} "
                f"with {self.workers} workers",
            )
        )


def default_block_size(spec: SweepSpec) -> int:
    """Return how many p1 make a block that is neither a burden to schedule nor slow to lose.

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
    """Work out what a sweep will do, and estimate what it will cost.

    Parameters
    ----------
    spec : SweepSpec
        The sweep.
    workers : int
        Processes of one thread, at least 1.
    block_size : int, optional
        Number of p1 in a block; `default_block_size` unless given.
    costs : mapping of str to RunCost, optional
        By configuration, if known already; otherwise pilots are run, which takes seconds.
    tables : mapping of str to Table, optional
        Data by hash, for the pilots of configurations that are not synthetic.

    Returns
    -------
    Plan
        Printed, it reads well.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": "all", "count": 50}})
    >>> print(make_plan(spec, 8, costs=dict.fromkeys(spec.configs, RunCost(0.05, 0.001))))
    2,400 tiles in 9,600 blocks of up to 10 p1: 12,000 tasks
    3,936,000 runs of imwk-means, 9,840,000 of k-means++
    141.7 MB of results before compression
    57.40 core-hours: 7 h 10 min with 8 workers
    """
    size = default_block_size(spec) if block_size is None else block_size
    blocks = split_block(whole_tile(spec, spec.tiles[0]), as_whole_number(size, "block_size", 1))
    work = [_Work.of(spec, block) for block in blocks]
    shares = {
        config: spec.dataset_count(config) * len(spec.normalisations) for config in spec.configs
    }
    known = run_pilots(spec, tables) if costs is None else costs
    seconds = {config: [share.seconds(known[config]) for share in work] for config in shares}
    tiles = sum(shares.values())
    return Plan(
        tiles=tiles,
        blocks=tiles * len(blocks),
        tasks=tiles * (len(blocks) + 1),
        block_size=size,
        imwk_runs=tiles * sum(share.imwk_runs for share in work),
        kmeans_runs=tiles * sum(share.kmeans_runs for share in work),
        bytes=tiles * _tile_bytes(spec),
        cpu_seconds=sum(count * sum(seconds[config]) for config, count in shares.items()),
        longest_block_seconds=max(map(max, seconds.values())),
        workers=as_whole_number(workers, "workers", 1),
    )


@dataclass(frozen=True)
class _Work:
    """The runs of one block."""

    imwk_runs: int
    kmeans_runs: int

    @classmethod
    def of(cls, spec: SweepSpec, block: Block) -> "_Work":
        cells = _cells(block.parts, len(block.p1), len(block.p2), spec.restarts)
        # rescaling needs imwk-means on the data as they are, whether it is kept or not
        first = 0 if set(block.parts) == {"kmeans"} else len(block.p1)
        restarts = sum(cells.get(part, 0) for part in RESTARTED)
        return cls(first + cells.get("rescaled_imwk", 0), restarts)

    def seconds(self, cost: RunCost) -> float:
        return self.imwk_runs * cost.imwk + self.kmeans_runs * cost.kmeans


def _cells(parts: tuple[str, ...], p1: int, p2: int, restarts: int) -> dict[str, int]:
    every = {
        "kmeans": restarts,
        "imwk": p1,
        "rescaled_kmeans": p1 * restarts,
        "rescaled_imwk": p1 * p2,
    }
    return {part: every[part] for part in parts}


def _tile_bytes(spec: SweepSpec) -> int:
    cells = _cells(spec.parts, len(spec.p1), len(spec.p2), spec.restarts)
    scores = SCORE_BYTES * len(spec.scores)
    return sum((CELL_BYTES[part] + scores) * count for part, count in cells.items())


def run_pilots(spec: SweepSpec, tables: Tables | None = None) -> dict[str, RunCost]:
    """Time a few runs on one data set of every shape: entities, features, clusters.

    Parameters
    ----------
    spec : SweepSpec
        The sweep; exponents are sampled all over its grid, normalisations in turn.
    tables : mapping of str to Table, optional
        Data by hash.

    Returns
    -------
    dict of str to RunCost
        By configuration; those of one shape share a pilot.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 50}}
    >>> cost = run_pilots(SweepSpec(datasets=data, p1=[1.5, 2], p2=[2], restarts=5))["1000x6-3"]
    >>> 0 < cost.kmeans < cost.imwk < 1
    True
    """
    turns = zip(spec.configs, cycle(spec.normalisations))
    tiles = {spec.shape(config): Tile(config, 0, normalisation) for config, normalisation in turns}
    run = partial(_run, spec, tables or {})
    run(Block(spec.tiles[0], ("imwk",), spec.p1[:1], ()))  # a first run is slow
    costs = {shape: _pilot(spec, tile, run) for shape, tile in tiles.items()}
    return {config: costs[spec.shape(config)] for config in spec.configs}


def _pilot(spec: SweepSpec, tile: Tile, run: Callable[[Block], float]) -> RunCost:
    p1, stretches = _spread(spec.p1, PILOT_P1), _stretches(spec.p2)
    blocks = [Block(tile, ("rescaled_imwk",), p1, p2) for p2 in stretches]
    imwk_seconds = sum(map(run, blocks))
    kmeans_seconds = run(Block(tile, ("kmeans",), (), ()))
    runs = sum(_Work.of(spec, block).imwk_runs for block in blocks)
    return RunCost(imwk_seconds / runs, kmeans_seconds / PILOT_RESTARTS)


def _run(spec: SweepSpec, tables: Tables, block: Block) -> float:
    """Return the seconds of a block, in proportion for a table too large to try all of it."""
    few = spec.model_copy(update={"restarts": PILOT_RESTARTS})
    facts = spec.datasets.matrices.get(block.tile.config)
    if facts is None:
        return run_block(few, block).seconds
    table = tables.get(facts.sha256)
    if table is None:
        raise InvalidInputError(
            f"The data of {block.tile.config!r} are needed for a plan. Name their file in the spec."
        )
    some = _some_rows(table, max(PILOT_ROWS, facts.k))
    return run_block(few, block, some).seconds * facts.rows / len(some.X)


def _some_rows(table: Table, most: int) -> Table:
    step = ceil(len(table.X) / most)
    classes = None if table.classes is None else table.classes[::step]
    return replace(table, X=table.X[::step], classes=classes)


def _spread(exponents: tuple[float, ...], count: int) -> tuple[float, ...]:
    """Choose the middle one of each of `count` equal shares."""
    return tuple(exponents[middle] for middle in _middles(len(exponents), count))


def _stretches(exponents: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Choose neighbours around the middle of each share of a grid; all of a small grid."""
    if len(exponents) <= PILOT_STRETCHES * PILOT_NEIGHBOURS:
        return [exponents]
    firsts = [
        middle - PILOT_NEIGHBOURS // 2 for middle in _middles(len(exponents), PILOT_STRETCHES)
    ]
    return [exponents[first : first + PILOT_NEIGHBOURS] for first in firsts]


def _middles(length: int, count: int) -> list[int]:
    shares = min(length, count)
    return [int((share + 0.5) * length / shares) for share in range(shares)]


def _size(count: int) -> str:
    unit = min(int(log10(count)) // 3, 3)
    return f"{count / 1000**unit:,.4g} {('bytes', 'kB', 'MB', 'GB')[unit]}"


def duration(seconds: float) -> str:
    """Write a time for people.

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
