"""Compute blocks, the unit of computing, with pure functions."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from time import thread_time
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import NDArray

from pipeline.core import (
    ImwkResult,
    imwk_grid,
    imwk_many,
    kmeans_many,
    rescale,
)
from pipeline.core.errors import InvalidInputError
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_choice
from pipeline.datasets import Table, generate_dataset
from pipeline.execution.keeping import kept_restart, kept_runs
from pipeline.execution.threads import one_blas_thread
from pipeline.plugins.calls import clustered, normalised
from pipeline.score_facts import suffix
from pipeline.scoring import Scorer
from pipeline.seeds import seed_sequence
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.blocks import Block, whole_tile
from pipeline.spec.plugins import (
    RESCALED,
    has_p1,
    random_clusterers,
    require_plugin,
    require_plugins,
)

#: Arrays by the names of the cube's variables.
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class BlockResult:
    """The results of a block.

    Attributes
    ----------
    block : Block
        What was to be computed.
    arrays : dict of str to ndarray
        ``kmeans_ari`` has the dimension restart; ``imwk_ari``, ``imwk_iterations`` and
        ``imwk_clusters`` have p1; ``rescaled_kmeans_ari`` has p1 and restart;
        ``rescaled_imwk_ari``, ``rescaled_imwk_iterations`` and ``rescaled_imwk_clusters`` have p1
        and p2. Data without classes have no ARI. Scores such as ``imwk_silhouette`` have the
        dimensions of the ARI. A clusterer such as ``ward`` has ``ward_ari`` and, with the dimension
        p1, ``rescaled_ward_ari``; both have restart too if it starts at random.
        Kept labels and weights have further dimensions; see `pipeline.execution.keeping`.
    seconds : float
        CPU time.
    """

    block: Block
    arrays: Arrays
    seconds: float


def run_tile(spec: SweepSpec, tile: Tile, table: Table | None = None) -> BlockResult:
    """Compute a whole tile at once.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], p1=[2], p2=[1.5, 2], restarts=3)
    >>> run_tile(spec, spec.tiles[0]).arrays["rescaled_imwk_ari"].shape
    (1, 2)
    """
    return run_block(spec, whole_tile(spec, tile), table)


def run_block(spec: SweepSpec, block: Block, table: Table | None = None) -> BlockResult:
    """Compute a block, as a pure function of the arguments.

    Parameters
    ----------
    spec : SweepSpec
        Has the seed, restarts, centre, dtype and scores. The exponents are those of the block.
    block : Block
        What to compute.
    table : Table, optional
        The data of the block's configuration. Synthetic data are generated from the seed.

    Returns
    -------
    BlockResult
        The bits of a cell do not depend on the other cells in the block.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> result = run_block(spec, Block(spec.tiles[0], ("imwk",), p1=(1.5, 2.0), p2=()))
    >>> result.arrays["imwk_clusters"].tolist()
    [3, 3]
    """
    plugins = bool(spec.plugins or spec.clusterers)
    if plugins:
        require_plugins(spec.plugins, spec.clusterers, "This process")
    with one_blas_thread(plugins=plugins):
        start = thread_time()
        arrays = _compute(TileData.of(spec, block.tile, table), block)
        return BlockResult(block, arrays, thread_time() - start)


def silhouette_seed(spec: SweepSpec, config: str, dataset: int) -> SeedSequence:
    """Return the seed that chooses the rows for the silhouette and `info` of a large data set.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> silhouette_seed(spec, "1000x6-3", 0).entropy
    2020
    """
    return seed_sequence(spec.seed, "silhouette", config, dataset)


def original_data(
    spec: SweepSpec, tile: Tile, table: Table | None = None
) -> tuple[FloatArray, IntArray | None]:
    """Return the data of a tile before they are normalised, and their classes if they are known.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> X, classes = original_data(spec, spec.tiles[0])
    >>> X.shape, classes.shape
    ((1000, 6), (1000,))
    """
    if tile.config in spec.datasets.plugin:
        source = spec.datasets.plugin[tile.config]
        require_plugin(spec.plugins, "generator", source.generator)
        return source.data(spec.seed, tile.config, tile.dataset)
    if tile.config not in spec.datasets.matrices:
        known = spec.datasets.configurations
        configuration = known[as_choice(tile.config, "configuration", known)]
        made = generate_dataset(configuration, tile.dataset, spec.seed)
        return made.X, made.y
    if table is None:
        raise InvalidInputError(f"The data of {tile.config!r} are needed. Pass its table.")
    return table.X, table.classes


def tile_scorer(spec: SweepSpec, tile: Tile, table: Table | None, scores: Iterable[str]) -> Scorer:
    """Return what rates labellings of a tile, with the bits of the sweep.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
    >>> scorer = tile_scorer(spec, spec.tiles[0], None, ["info"])
    >>> list(scorer.score(np.zeros((1, 1000), dtype=np.int64)))
    ['ari', 'info']
    """
    require_plugin(spec.plugins, "normalisation", tile.normalisation)
    X, classes = original_data(spec, tile, table)
    # Without the normalisation: scores use the same rows under all of them.
    seed = silhouette_seed(spec, tile.config, tile.dataset)
    return Scorer(normalised(X, tile.normalisation), X, classes, scores, seed)


@dataclass(frozen=True, eq=False)
class TileData:
    """The normalised data of a tile, and how to cluster and score them."""

    spec: SweepSpec
    tile: Tile
    X: FloatArray
    k: int
    scorer: Scorer

    @classmethod
    def of(cls, spec: SweepSpec, tile: Tile, table: Table | None) -> "TileData":
        """Generate or take the data of a tile, and normalise them."""
        X, _ = original_data(spec, tile, table)
        *_, k = spec.shape(tile.config)
        scorer = tile_scorer(spec, tile, table, spec.scores)
        return cls(spec, tile, normalised(X, tile.normalisation), k, scorer)

    def kmeans_seed(self, *coordinates: str) -> SeedSequence:
        """Return the seed of k-means++ on the data, or on those rescaled at some coordinates."""
        return self._seed("kmeans", *coordinates)

    def _seed(self, *coordinates: str | int) -> SeedSequence:
        algorithm, *others = coordinates
        tile = self.tile
        where = (tile.config, tile.dataset, tile.normalisation)
        return seed_sequence(self.spec.seed, algorithm, *where, *others)

    def clusterer_arrays(self, prefix: str, name: str, X: FloatArray, *at: str) -> Arrays:
        """Run a clusterer on the data, or on those rescaled at a p1, and rate its labellings."""
        random = random_clusterers([name], self.spec.plugins)[name]
        runs = range(self.spec.restarts if random else 1)
        # Each restart has a stream of its own, so that more of them would change none.
        seeds = (self._seed("clusterer", name, *at, run).generate_state(1)[0] for run in runs)
        labels = np.stack([clustered(X, self.k, name, int(seed)) for seed in seeds])
        found = self.scores(prefix, labels)
        return found if random else {each: values[0] for each, values in found.items()}

    def kmeans_arrays(
        self, prefix: str, Xs: Sequence[FloatArray], seeds: Sequence[SeedSequence]
    ) -> Arrays:
        """Run k-means++ on some data sets, and rate all restarts."""
        found = kmeans_many(Xs, self.k, self.spec.restarts, seeds)
        return _stacked([self.scores(prefix, each.labels) for each in found])

    def imwk_arrays(self, prefix: str, runs: Sequence[ImwkResult]) -> Arrays:
        """Return the results of some runs of imwk-means."""
        return {
            **self.scores(prefix, np.stack([run.labels for run in runs])),
            f"{prefix}_iterations": np.array([run.iterations for run in runs], dtype=np.uint16),
            f"{prefix}_clusters": np.array([run.n_clusters for run in runs], dtype=np.uint16),
            **kept_runs(prefix, runs, self.k, self.spec.keep),
        }

    def scores(self, prefix: str, labels: IntArray) -> Arrays:
        """Rate some labellings (r, n)."""
        return {f"{prefix}_{name}": values for name, values in self.scorer.score(labels).items()}


def _compute(data: TileData, block: Block) -> Arrays:
    spec, arrays = data.spec, Arrays()
    if "kmeans" in block.parts:
        (found,) = kmeans_many([data.X], data.k, spec.restarts, [data.kmeans_seed()])
        arrays |= data.scores("kmeans", found.labels) | kept_restart(found, data.k, spec.keep)
    for part, name in _clusterers(spec, block, rescaled=False):
        arrays |= data.clusterer_arrays(part, name, data.X)
    if not any(map(has_p1, block.parts)):
        return arrays
    runs = imwk_many(data.X, data.k, block.p1, spec.centre, spec.dtype)
    if "imwk" in block.parts:
        arrays |= data.imwk_arrays("imwk", runs)
    rescaled = [rescale(data.X, run.labels, run.weights) for run in runs]
    if "rescaled_kmeans" in block.parts:
        # By the exponent, not by its index, because the grid may be extended.
        seeds = [data.kmeans_seed(repr(float(p))) for p in block.p1]
        arrays |= data.kmeans_arrays("rescaled_kmeans", rescaled, seeds)
    if "rescaled_imwk" in block.parts:
        arrays |= _rescaled_imwk(data, block.p2, rescaled)
    for part, name in _clusterers(spec, block, rescaled=True):
        rows = zip(block.p1, rescaled, strict=True)
        arrays |= _stacked([data.clusterer_arrays(part, name, X, repr(float(p))) for p, X in rows])
    return arrays


def _clusterers(spec: SweepSpec, block: Block, *, rescaled: bool) -> list[tuple[str, str]]:
    """Return the clusterers of a block, as parts and names, on original or on rescaled data."""
    stems = {name: (RESCALED if rescaled else "") + suffix(name) for name in spec.clusterers}
    return [(part, name) for name, part in stems.items() if part in block.parts]


def _rescaled_imwk(data: TileData, p2: Sequence[float], rescaled: Sequence[FloatArray]) -> Arrays:
    spec = data.spec
    grid = imwk_grid(rescaled, data.k, p2, spec.centre, spec.dtype)
    return _stacked([data.imwk_arrays("rescaled_imwk", runs) for runs in grid])


def _stacked(rows: Sequence[Arrays]) -> Arrays:
    return {name: np.stack([row[name] for row in rows]) for name in rows[0]}
