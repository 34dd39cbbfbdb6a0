"""Pilots: a few runs on each shape of data, timed to estimate the cost of a sweep.

Few runs together take almost as many calls as many, so that a run in a small pilot costs several
times what it costs in a sweep. A pilot is therefore as large as a block of the sweep if time
permits. If not, two pilots of different sizes show what a further run costs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil
from time import thread_time
from typing import NamedTuple, TypeVar

from pipeline.core import ImwkResult, imwk_grid, rescale
from pipeline.core.errors import InvalidInputError
from pipeline.core.types import FloatArray
from pipeline.datasets import Table
from pipeline.datasets.tables.table import Tables
from pipeline.execution.block import TileData
from pipeline.execution.threads import one_blas_thread
from pipeline.execution.workload import RunCost
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.plugins import require_plugins

#: CPU seconds of all pilots together, which they exceed where even the smallest take longer.
PILOT_SECONDS = 4.0
#: The most tiles of a shape in a pilot. It mixes configurations, data sets and normalisations,
#: because some take much longer than others.
PILOT_TILES = 5
#: The least number of p2 in a pilot.
PILOT_P2 = 5
#: The smaller of two pilots has one of this many data sets.
FEWER = 4
#: k-means computes all restarts together, so that a pilot has as many as most sweeps.
PILOT_RESTARTS = 100
#: A pilot samples the rows of a larger table. The cost is proportional to the number of rows.
PILOT_ROWS = 5_000

Result = TypeVar("Result")


def run_pilots(
    spec: SweepSpec, block_size: int, tables: Tables | None = None
) -> dict[str, RunCost]:
    """Time a few runs on data of every shape: entities, features, clusters.

    Parameters
    ----------
    spec : SweepSpec
        The sweep. Pilots sample its data sets, normalisations and exponents.
    block_size : int
        Number of p1 in a block of the sweep.
    tables : mapping of str to Table, optional
        Tables by hash, for configurations that are not synthetic.

    Returns
    -------
    dict of str to RunCost
        By configuration. Configurations of the same shape share a pilot.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 50}}
    >>> spec = SweepSpec(datasets=data, p1=[1.5, 2], p2=[2], restarts=5)
    >>> cost = run_pilots(spec, block_size=2)["1000x6-3"]
    >>> 0 < cost.kmeans < cost.rescaled_imwk < 1
    True
    """
    shapes: dict[tuple[int, int, int], list[str]] = {}
    for config in spec.configs:
        shapes.setdefault(spec.shape(config), []).append(config)
    pilots = _Pilots(spec, block_size, tables or {}, PILOT_SECONDS / len(shapes))
    plugins = bool(spec.plugins or spec.clusterers)
    if plugins:
        require_plugins(spec.plugins, spec.clusterers)
    with one_blas_thread(plugins=plugins):
        pilots.warm_up()
        costs = {shape: pilots.cost(configs) for shape, configs in shapes.items()}
    return {config: costs[spec.shape(config)] for config in spec.configs}


class _Source(NamedTuple):
    """A data set to run on, original or rescaled, and the tile that it belongs to."""

    tile: TileData
    X: FloatArray


@dataclass(frozen=True)
class _Pilots:
    """The pilots of a sweep, with some CPU seconds for each shape of data."""

    spec: SweepSpec
    block_size: int
    tables: Tables
    seconds: float

    def warm_up(self) -> None:
        """Make one run, because the first one is slower than later ones."""
        tile = self._data(self.spec.tiles[0])
        self._run([_Source(tile, tile.X)], self.spec.p1[:1])

    def cost(self, configs: Sequence[str]) -> RunCost:
        """Return what runs on data of one shape cost, the shape of all `configs`."""
        tiles = _mixed_tiles(self.spec, configs)
        data, preparing = _timed(lambda: [self._data(tile) for tile in tiles])
        rescaled, imwk = self._on_originals([_Source(tile, tile.X) for tile in data])
        rows, *_ = self.spec.shape(configs[0])
        scale = rows / len(data[0].X)
        return RunCost(
            imwk * scale,
            self._on_rescaled(rescaled, guess=imwk) * scale,
            self._restart([rescaled[0], rescaled[-1]]) * scale,
            preparing / len(data) * scale,
            # Most of them compare all pairs of rows.
            {
                name: self._clusterer(name, [rescaled[0], rescaled[-1]]) * scale**2
                for name in self.spec.clusterers
            },
        )

    def _data(self, tile: Tile) -> TileData:
        few = self.spec.model_copy(update={"restarts": min(self.spec.restarts, PILOT_RESTARTS)})
        facts = self.spec.datasets.matrices.get(tile.config)
        if facts is None:
            return TileData.of(few, tile, None)
        table = self.tables.get(facts.hashes[tile.dataset])
        if table is None:
            raise InvalidInputError(
                f"The data of {tile.config!r} are needed for a plan. Name their file in the spec."
            )
        return TileData.of(few, tile, _some_rows(table, max(PILOT_ROWS, facts.k)))

    def _on_originals(self, originals: Sequence[_Source]) -> tuple[list[_Source], float]:
        """Run at one p1 and, if time permits, at as many as a block has; return the rescaled data.

        Also return the seconds of a run.
        """
        for count in (1, ceil(self.block_size / len(originals))):
            p1 = _spread(self.spec.p1, count)
            grid, spent = _timed(partial(self._run, originals, p1))
            if spent > self.seconds:
                break
        rescaled = [
            _Source(tile, rescale(X, run.labels, run.weights))
            for (tile, X), runs in zip(originals, grid, strict=True)
            for run in runs
        ]
        return rescaled, spent / len(rescaled)

    def _on_rescaled(self, rescaled: Sequence[_Source], guess: float) -> float:
        """Return the seconds of a run, one of as many as a block has."""
        if "rescaled_imwk" not in self.spec.parts:
            return 0.0
        affordable = int(self.seconds / (guess * len(rescaled)))
        p2 = _spread(self.spec.p2, max(affordable, PILOT_P2))
        runs, wanted = len(rescaled) * len(p2), self.block_size * len(self.spec.p2)
        _, spent = _timed(lambda: self._run(rescaled, p2))
        if runs >= wanted or len(rescaled) == 1:  # enough, or nothing to compare with
            return spent / runs
        some = rescaled[::FEWER]
        _, spent_on_some = _timed(lambda: self._run(some, p2))
        further = (spent - spent_on_some) / (runs - len(some) * len(p2))
        return (spent + (wanted - runs) * min(max(further, 0.0), spent / runs)) / wanted

    def _restart(self, some: Sequence[_Source]) -> float:
        """Return the seconds of a restart of k-means++."""
        restarts = some[0].tile.spec.restarts
        if not restarts:
            return 0.0
        _, spent = _timed(
            lambda: [tile.kmeans_arrays("kmeans", [X], [tile.kmeans_seed()]) for tile, X in some]
        )
        return spent / (len(some) * restarts)

    def _clusterer(self, name: str, some: Sequence[_Source]) -> float:
        """Return the seconds of a run of a clusterer."""
        once = self.spec.model_copy(update={"restarts": 1})
        tiles = [(replace(tile, spec=once), X) for tile, X in some]
        _, spent = _timed(lambda: [tile.clusterer_arrays(name, name, X) for tile, X in tiles])
        return spent / len(some)

    def _run(self, sources: Sequence[_Source], ps: tuple[float, ...]) -> list[list[ImwkResult]]:
        """Run imwk-means on all data sets with all exponents, and rate the labellings."""
        Xs, k = [source.X for source in sources], sources[0].tile.k
        grid = imwk_grid(Xs, k, ps, self.spec.centre, self.spec.dtype)
        for source, runs in zip(sources, grid, strict=True):
            source.tile.imwk_arrays("imwk", runs)
        return grid


def _mixed_tiles(spec: SweepSpec, configs: Sequence[str]) -> list[Tile]:
    """Return tiles that differ in configuration, data set and normalisation if possible."""
    pairs = [(config, normalisation) for normalisation in spec.normalisations for config in configs]
    chosen = [pairs[middle] for middle in _middles(len(pairs), PILOT_TILES)]
    return [
        Tile(config, number % spec.dataset_count(config), normalisation)
        for number, (config, normalisation) in enumerate(chosen)
    ]


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of some work and its CPU seconds."""
    start = thread_time()
    result = work()
    return result, thread_time() - start


def _some_rows(table: Table, most: int) -> Table:
    step = ceil(len(table.X) / most)
    classes = None if table.classes is None else table.classes[::step]
    return replace(table, X=table.X[::step], classes=classes)


def _spread(exponents: tuple[float, ...], count: int) -> tuple[float, ...]:
    """Return the middle exponent of each of `count` equal parts of a grid."""
    return tuple(exponents[middle] for middle in _middles(len(exponents), count))


def _middles(length: int, count: int) -> list[int]:
    parts = min(length, count)
    return [int((part + 0.5) * length / parts) for part in range(parts)]
