"""Pilots: a few runs on each shape of data, timed to estimate the cost of a sweep."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle
from math import ceil

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table
from pipeline.datasets.tables.table import Tables
from pipeline.execution.block import run_block
from pipeline.execution.workload import RunCost, Workload
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block

#: A pilot takes p1 from the whole grid, but p2 in groups of neighbours: runs with similar exponents
#: are computed together, and so they cost less than the same number from the whole grid.
PILOT_P1, PILOT_GROUPS, PILOT_NEIGHBOURS = 8, 2, 3
#: The number of restarts that k-means computes together.
PILOT_RESTARTS = 20
#: A pilot samples the rows of a larger table. The cost is proportional to the number of rows.
PILOT_ROWS = 5_000


def run_pilots(spec: SweepSpec, tables: Tables | None = None) -> dict[str, RunCost]:
    """Time a few runs on one data set of every shape: entities, features, clusters.

    Parameters
    ----------
    spec : SweepSpec
        The sweep. Pilots sample its exponents and alternate between its normalisations.
    tables : mapping of str to Table, optional
        Tables by hash, for configurations that are not synthetic.

    Returns
    -------
    dict of str to RunCost
        By configuration. Configurations of the same shape share a pilot.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 50}}
    >>> cost = run_pilots(SweepSpec(datasets=data, p1=[1.5, 2], p2=[2], restarts=5))["1000x6-3"]
    >>> 0 < cost.kmeans < cost.imwk < 1
    True
    """
    turns = zip(spec.configs, cycle(spec.normalisations))
    tiles = {spec.shape(config): Tile(config, 0, normalisation) for config, normalisation in turns}
    run = partial(_timed, spec, tables or {})
    run(Block(spec.tiles[0], ("imwk",), spec.p1[:1], ()))  # the first run is slower than later ones
    costs = {shape: _pilot(spec, tile, run) for shape, tile in tiles.items()}
    return {config: costs[spec.shape(config)] for config in spec.configs}


def _pilot(spec: SweepSpec, tile: Tile, run: Callable[[Block], float]) -> RunCost:
    p1 = _spread(spec.p1, PILOT_P1)
    blocks = [Block(tile, ("rescaled_imwk",), p1, p2) for p2 in _groups(spec.p2)]
    imwk_seconds = sum(map(run, blocks))
    kmeans_seconds = run(Block(tile, ("kmeans",), (), ()))
    runs = sum(Workload.of(spec, block).imwk_runs for block in blocks)
    return RunCost(imwk_seconds / runs, kmeans_seconds / PILOT_RESTARTS)


def _timed(spec: SweepSpec, tables: Tables, block: Block) -> float:
    """Return the CPU seconds of a block, extrapolated from some rows of a large table."""
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
    """Return the middle exponent of each of `count` equal parts of a grid."""
    return tuple(exponents[middle] for middle in _middles(len(exponents), count))


def _groups(exponents: tuple[float, ...]) -> list[tuple[float, ...]]:
    """Return neighbours around the middle of each part of a grid, or the whole of a small grid."""
    if len(exponents) <= PILOT_GROUPS * PILOT_NEIGHBOURS:
        return [exponents]
    firsts = [middle - PILOT_NEIGHBOURS // 2 for middle in _middles(len(exponents), PILOT_GROUPS)]
    return [exponents[first : first + PILOT_NEIGHBOURS] for first in firsts]


def _middles(length: int, count: int) -> list[int]:
    parts = min(length, count)
    return [int((part + 0.5) * length / parts) for part in range(parts)]
