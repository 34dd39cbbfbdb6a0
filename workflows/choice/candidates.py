"""The labellings of a data set that compete: all that a cube keeps, of all normalisations."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import xarray as xr

from pipeline.core import central_scores
from pipeline.core.labellings import sampled_rows
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.datasets import Table
from pipeline.execution.block import original_data, silhouette_seed, tile_scorer
from pipeline.score_facts import SCORE_FACTS, TILE_SCORES, ScoreFacts, suffix
from pipeline.spec import SweepSpec, Tile
from pipeline.spec.plugins import plugin_scores
from storage import labels, stored_table
from storage.handle import CubeHandle
from storage.query import select

#: The parts whose labellings are kept, in the order of candidates.
PARTS = ("imwk", "rescaled_imwk", "kmeans")
#: Labels that are read at once where a score has to be computed, to bound the memory.
LABELS_TOGETHER = 20_000_000


@dataclass(frozen=True)
class Candidate:
    """A run that a rule can pick.

    Attributes
    ----------
    part : {"imwk", "rescaled_imwk", "kmeans"}
        The algorithm: imwk-means, imwk-means on rescaled data, or the k-means++ restart of least
        inertia.
    normalisation : str
        The normalisation of the data.
    p1, p2 : float or None
        The exponents, as far as the algorithm has them.
    """

    part: str
    normalisation: str
    p1: float | None = None
    p2: float | None = None

    def __str__(self) -> str:
        """Return it as words.

        Examples
        --------
        >>> print(Candidate("rescaled_imwk", "z-score", 1.4, 2.6))
        z-score, p1 = 1.4, p2 = 2.6
        >>> print(Candidate("imwk", "range", 1.5), "|", Candidate("kmeans", "range"))
        range, p1 = 1.5, not rescaled | k-means++ on range
        """
        if self.p1 is None:
            return f"k-means++ on {self.normalisation}"
        last = "not rescaled" if self.p2 is None else f"p2 = {self.p2:g}"
        return f"{self.normalisation}, p1 = {self.p1:g}, {last}"


def keeps_candidates(spec: SweepSpec) -> bool:
    """Return whether cubes of a sweep keep labels from which to choose.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> [keeps_candidates(SweepSpec(datasets=data, keep=keep)) for keep in ([], ["labels"])]
    [False, True]
    """
    return "labels" in spec.keep and not set(PARTS).isdisjoint(spec.parts)


def known_scores(spec: SweepSpec) -> dict[str, ScoreFacts]:
    """Return the facts of the scores that can choose in a cube, by name.

    Built-in ones are computed where the cube lacks them. Those of plug-ins are only read.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> "info" in known_scores(SweepSpec(datasets=data))
    True
    """
    stored = plugin_scores(spec.plugins).items()
    return {**SCORE_FACTS, **{name: facts for name, facts in stored if name in spec.scores}}


class Candidates:
    """All candidates of a data set.

    For each normalisation the runs of imwk-means by p1, those on rescaled data by p1 and p2, and
    the k-means++ restart of least inertia. Runs that are not computed yet are left out.

    Parameters
    ----------
    handle : CubeHandle
        A cube that keeps labels.
    cube : xarray.Dataset
        The same cube, opened.
    config : str
        A configuration.
    dataset : int
        The number of a data set.
    """

    def __init__(self, handle: CubeHandle, cube: xr.Dataset, config: str, dataset: int) -> None:
        self.spec, self.config, self.dataset = handle.spec, config, dataset
        self.rows, self.features, self.k = handle.spec.shape(config)
        has_table = config in handle.spec.datasets.matrices
        self._table = stored_table(handle, config, dataset) if has_table else None
        self._tiles = list(_tiles(handle, cube, config, dataset, self._table))
        self.all = tuple(each for tile in self._tiles for each in tile.candidates())
        self._scores: dict[str, Float64Array] = {}

    @property
    def facts(self) -> dict[str, ScoreFacts]:
        """The facts of the scores that can choose: built-in ones, and those of plug-ins."""
        return known_scores(self.spec)

    @property
    def normalisations(self) -> tuple[str, ...]:
        """The normalisations that have candidates."""
        return tuple(dict.fromkeys(each.normalisation for each in self.all))

    @property
    def classes(self) -> IntArray | None:
        """The known classes."""
        tile = Tile(self.config, self.dataset, self.spec.normalisations[0])
        return original_data(self.spec, tile, self._table)[1]

    def scores(self, score: str) -> Float64Array:
        """Return a score of all candidates: as the cube has it, or from the labels it keeps."""
        if score not in self._scores:
            self._scores[score] = np.concatenate([tile.scores(score) for tile in self._tiles])
        return self._scores[score]

    def goodness(self, score: str) -> Float64Array:
        """Return a score with the sign that makes the highest value the best."""
        return self.scores(score) * (1 if self.facts[score].higher_is_better else -1)

    def score_without_place(self, score: str, labellings: IntArray) -> Float64Array:
        """Return a score that does not depend on a normalisation, of any labellings (r, n)."""
        return self._tiles[0].computed(score, [labellings])

    def labels_of(self, places: Iterable[int]) -> IntArray:
        """Return the labels of some candidates, in rows."""
        every = [(tile, place) for tile in self._tiles for place in range(len(tile))]
        return np.stack([every[place][0].labels_of(every[place][1]) for place in places])

    def labels_at(self, rows: IntArray) -> IntArray:
        """Return the labels of all candidates at some rows of the data."""
        return np.concatenate([tile.labels_at(rows) for tile in self._tiles])


@dataclass(frozen=True, eq=False)
class _Runs:
    """The runs of one algorithm in one tile: lazy labels, and which of them are computed."""

    part: str
    labels: xr.DataArray
    present: BoolArray
    results: xr.Dataset

    def exponents(self) -> Iterator[dict[str, float]]:
        dims = [str(dim) for dim in self.labels.dims if dim != "row"]
        grids = [self.labels[dim].values.tolist() for dim in dims]
        for cell in np.argwhere(self.present):
            values = (grid[place] for grid, place in zip(grids, cell, strict=True))
            yield dict(zip(dims, values, strict=True))

    def stored(self, score: str) -> Float64Array | None:
        name = f"{self.part}_{suffix(score)}"
        if name not in self.results:
            return None
        values = self.results[name]
        if "restart" in values.dims:
            values = values.sel(restart=int(self.labels["restart"]))
        return np.asarray(values.values[self.present], np.float64)

    def labels_of(self, place: int) -> IntArray:
        return np.asarray(self.labels[tuple(np.argwhere(self.present)[place])].values)

    def labels_at(self, rows: IntArray) -> IntArray:
        return np.asarray(self.labels.isel(row=rows).values[self.present])

    def blocks(self) -> Iterator[IntArray]:
        """Yield the labels of all runs, a few p1 at a time."""
        if not self.present.ndim:
            yield np.asarray(self.labels.values[self.present])
            return
        together = max(1, LABELS_TOGETHER // self.labels[0].size)
        for first in range(0, len(self.present), together):
            some = slice(first, first + together)
            yield np.asarray(self.labels[some].values[self.present[some]])


@dataclass(frozen=True, eq=False)
class _TileRuns:
    """The candidates of one normalisation."""

    handle: CubeHandle
    tile: Tile
    table: Table | None
    runs: tuple[_Runs, ...]

    def __len__(self) -> int:
        return sum(int(each.present.sum()) for each in self.runs)

    def candidates(self) -> Iterator[Candidate]:
        for each in self.runs:
            for exponents in each.exponents():
                yield Candidate(each.part, self.tile.normalisation, **exponents)

    def labels_of(self, place: int) -> IntArray:
        places = [(each, at) for each in self.runs for at in range(int(each.present.sum()))]
        found, at = places[place]
        return found.labels_of(at)

    def labels_at(self, rows: IntArray) -> IntArray:
        return np.concatenate([each.labels_at(rows) for each in self.runs])

    def scores(self, score: str) -> Float64Array:
        if score in TILE_SCORES:
            return self._central()
        stored = [each.stored(score) for each in self.runs]
        known = [values for values in stored if values is not None]
        if len(known) == len(stored):
            return np.concatenate(known)
        return self.computed(score, (block for each in self.runs for block in each.blocks()))

    def _central(self) -> Float64Array:
        """Return the mean ARI with runs of imwk-means; k-means++ is rated, but no reference."""
        rows = self._sample()
        runs = [each.labels_at(rows) for each in self.runs if each.part != "kmeans"]
        kmeans = [each.labels_at(rows) for each in self.runs if each.part == "kmeans"]
        if not runs:
            return central_scores(np.concatenate(kmeans))
        guests = np.concatenate(kmeans) if kmeans else None
        return central_scores(np.concatenate(runs), guests=guests)

    def computed(self, score: str, blocks: Iterable[IntArray]) -> Float64Array:
        scorer = tile_scorer(self.handle.spec, self.tile, self.table, [score])
        return np.concatenate([scorer.score(block)[suffix(score)] for block in blocks])

    def _sample(self) -> IntArray:
        rows, *_ = self.handle.spec.shape(self.tile.config)
        seed = silhouette_seed(self.handle.spec, self.tile.config, self.tile.dataset)
        return sampled_rows(rows, seed)


def _tiles(
    handle: CubeHandle, cube: xr.Dataset, config: str, dataset: int, table: Table | None
) -> Iterator[_TileRuns]:
    parts = [part for part in PARTS if part in handle.spec.parts]
    kept = {
        part: labels(handle, config=config, dataset=dataset, part=part)
        for part in parts or [PARTS[0]]  # the error explains why there are none
    }
    results = _results(handle, cube, config, dataset)
    for normalisation in handle.spec.normalisations:
        here = results.sel(normalisation=normalisation)
        of_tile = {part: each.sel(normalisation=normalisation) for part, each in kept.items()}
        runs = (_Runs(part, each, _present(each, here), here) for part, each in of_tile.items())
        some = tuple(each for each in runs if each.present.any())
        if some:
            yield _TileRuns(handle, Tile(config, dataset, normalisation), table, some)


def _results(handle: CubeHandle, cube: xr.Dataset, config: str, dataset: int) -> xr.Dataset:
    """Return the scores and numbers of clusters of a data set, in memory."""
    scores = known_scores(handle.spec)
    parts = [part for part in PARTS if part in handle.spec.parts]
    wanted = [suffix(score) for score in scores] + ["clusters"]
    names = [f"{part}_{each}" for part in parts for each in wanted if f"{part}_{each}" in cube]
    return select(cube, config=config, dataset=dataset)[names].squeeze(("config", "dataset")).load()


def _present(labels: xr.DataArray, results: xr.Dataset) -> BoolArray:
    part = str(labels.name).removesuffix("_labels")
    if part == "kmeans":
        return np.asarray(int(labels["restart"]) >= 0)
    return np.asarray(results[f"{part}_clusters"].notnull())
