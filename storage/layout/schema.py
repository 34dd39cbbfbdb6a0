"""What a cube contains: dimensions, variables, their types, chunks and fill values."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.score_facts import SCORE_FACTS, SCORES, TILE_SCORES, ScoreFacts, suffix
from pipeline.spec import SweepSpec
from pipeline.spec.plugins import PluginFacts, clusterer_parts, plugin_scores, random_clusterers

#: Increased when cubes written by earlier versions cannot be read any more.
SCHEMA_VERSION = 1
#: An attribute of every cube, which tells it from other Zarr groups.
SCHEMA_NAME = "imwk-sweep cube"

#: Together they identify a tile, which is a chunk of its own in every variable.
TILE_DIMS = ("config", "dataset", "normalisation")

#: Chunks hold more than the paper's 40 exponents, so that a cube that is extended by a few needs no
#: more files; the empty rest of a chunk is compressed away.
EXPONENT_CHUNK = 64
#: Coordinates of at most this length are one chunk.
COORDINATE_CHUNK = 1024

#: Rounding may increase an adjusted Rand index of 1 by this much.
ARI_SLACK = 1e-9


class Status(IntEnum):
    """The state of a tile, as it is stored.

    The ledger reads it together with the tile's grid and error. A tile with the status done counts
    as missing if its grid is older than the cube's last extension, and as failed if computing that
    extension left an error.
    """

    MISSING = 0
    DONE = 1
    FAILED = 2
    NOT_PART = 3


@dataclass(frozen=True)
class Variable:
    """One array of the cube.

    Attributes
    ----------
    name : str
        Its name in the cube.
    dims : tuple of str
        Its dimensions after those of the tile.
    dtype : str
        A dtype of NumPy; ``str`` for text of any length.
    fill : object
        The value of cells that were never written.
    about : str
        One line for its attributes.
    part : str or None
        The part of a sweep that computes it; None if it describes the tile.
    score : str or None
        The name of the score that it holds; None for counts, and if it describes the tile.
    facts : ScoreFacts or None
        The facts of that score.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    fill: Any
    about: str
    part: str | None = None
    score: str | None = None
    facts: ScoreFacts | None = None

    @property
    def is_count(self) -> bool:
        """Whether it is a count: at least 1, or 0 (NaN in xarray) where there is no result."""
        return self.part is not None and self.dtype.startswith("uint")

    @property
    def needs_labels(self) -> bool:
        """Whether it compares a clustering with known classes."""
        return self.facts is not None and self.facts.needs_classes

    @property
    def higher_is_better(self) -> bool:
        """Whether the best result is the highest one."""
        return self.facts is None or self.facts.higher_is_better

    def problem(self, values: NDArray[Any], clusters: int) -> str | None:
        """Return what is wrong with results, or None.

        Examples
        --------
        >>> RESULTS["imwk_ari"].problem(np.array([0.5, 1.5]), clusters=3)
        'imwk_ari has 1.5, outside -1 to 1'
        >>> RESULTS["imwk_clusters"].problem(np.array([3, 3]), clusters=3) is None
        True
        """
        values = np.atleast_1d(values)
        undefined = np.nan if self.facts is None else self.facts.worst
        absent = int((~np.isfinite(values) & (values != undefined)).sum())
        if absent:
            return f"{self.name} lacks {absent} of {values.size} values"
        low, high = self.bounds(clusters)
        outside = values[(values < low - ARI_SLACK) | (values > high + ARI_SLACK)]
        return f"{self.name} has {outside[0]}, outside {low} to {high}" if len(outside) else None

    def bounds(self, clusters: int) -> tuple[float, float]:
        """Return the smallest and the largest value that a result may have."""
        if self.facts is not None:
            return self.facts.lowest, self.facts.highest
        return 1, clusters if self.name.endswith("_clusters") else np.iinfo(self.dtype).max


def _result(name: str, dims: tuple[str, ...], part: str, about: str) -> Variable:
    # xarray reads counts with gaps as floats; 16-bit ones as float32, whose sums are not exact
    is_score = name.endswith("_ari")
    dtype, fill = ("float64", np.nan) if is_score else ("uint32", 0)
    score, facts = ("ari", SCORE_FACTS["ari"]) if is_score else (None, None)
    return Variable(name, dims, dtype, fill, about, part, score, facts)


_ARI = f"{SCORE_FACTS['ari'].title} of"
_ROUNDS = "Rounds of the main loop of"
_CLUSTERS = "Clusters that are not empty, of k asked for, by"
_RESCALED = "imwk-means at p2 on data rescaled at p1"

#: The results that every sweep computes, if it has their part.
RESULTS = {
    variable.name: variable
    for variable in (
        _result("kmeans_ari", ("restart",), "kmeans", f"{_ARI} k-means++"),
        _result("imwk_ari", ("p1",), "imwk", f"{_ARI} imwk-means at p1"),
        _result("imwk_iterations", ("p1",), "imwk", f"{_ROUNDS} imwk-means at p1"),
        _result("imwk_clusters", ("p1",), "imwk", f"{_CLUSTERS} imwk-means at p1"),
        _result(
            "rescaled_kmeans_ari",
            ("p1", "restart"),
            "rescaled_kmeans",
            f"{_ARI} k-means++ on data rescaled at p1",
        ),
        _result("rescaled_imwk_ari", ("p1", "p2"), "rescaled_imwk", f"{_ARI} {_RESCALED}"),
        _result(
            "rescaled_imwk_iterations", ("p1", "p2"), "rescaled_imwk", f"{_ROUNDS} {_RESCALED}"
        ),
        _result(
            "rescaled_imwk_clusters", ("p1", "p2"), "rescaled_imwk", f"{_CLUSTERS} {_RESCALED}"
        ),
    )
}


def _beside(ari: Variable, score: str, facts: ScoreFacts) -> Variable:
    """Return the variable of another score of the same labellings."""
    name = f"{ari.part}_{suffix(score)}"
    about = ari.about.replace(SCORE_FACTS["ari"].title, facts.title)
    return replace(ari, name=name, about=about, score=score, facts=facts)


#: The results that a cube has if its spec names the score, each beside an ARI. Scores that need all
#: labellings of a tile are computed from kept labels, which restarts do not have.
SCORE_RESULTS = {
    variable.name: variable
    for score in (*SCORES, *TILE_SCORES)
    for variable in (
        _beside(ari, score, SCORE_FACTS[score]) for ari in RESULTS.values() if ari.score == "ari"
    )
    if score in SCORES or "restart" not in variable.dims
}
ALL_RESULTS = {**RESULTS, **SCORE_RESULTS}

_STATUS = ", ".join(f"{status.value} {status.name.lower().replace('_', ' ')}" for status in Status)

#: The variables that describe each tile.
ABOUT_TILES = {
    variable.name: variable
    for variable in (
        Variable("status", (), "int8", 0, f"{_STATUS}; written last"),
        Variable("grid", (), "int16", -1, "Which of the attribute `grids` the tile is whole for"),
        Variable("tile_seconds", (), "float64", np.nan, "CPU seconds that the tile took"),
        Variable("error", (), "str", "", "Why the tile failed"),
    )
}

VARIABLES = {**ALL_RESULTS, **ABOUT_TILES}


def all_results(
    clusterers: Iterable[str] = (), plugins: Collection[PluginFacts] = ()
) -> dict[str, Variable]:
    """Return all results that a cube may have, with those of its clusterers and plug-ins.

    Examples
    --------
    >>> [name for name in all_results(["gmm"]) if name.endswith("gmm_ari")]
    ['gmm_ari', 'rescaled_gmm_ari']
    """
    own = list(_clusterer_aris(clusterers, plugins))
    aris = [ari for ari in RESULTS.values() if ari.score == "ari"]
    more = [_beside(ari, score, SCORE_FACTS[score]) for score in SCORES for ari in own]
    for score, facts in plugin_scores(plugins).items():
        more += [_beside(ari, score, facts) for ari in (*aris, *own)]
    return {**ALL_RESULTS, **{variable.name: variable for variable in (*own, *more)}}


def _clusterer_aris(
    clusterers: Iterable[str], plugins: Iterable[PluginFacts]
) -> Iterator[Variable]:
    for name, random in random_clusterers(clusterers, plugins).items():
        restart = ("restart",) if random else ()
        original, rescaled = clusterer_parts([name])
        yield _result(f"{original}_ari", restart, original, f"{_ARI} {name}")
        about = f"{_ARI} {name} on data rescaled at p1"
        yield _result(f"{rescaled}_ari", ("p1", *restart), rescaled, about)


def results_of_spec(spec: SweepSpec) -> dict[str, Variable]:
    """Return all results that a cube of a sweep may have, by name."""
    return all_results(spec.clusterers, spec.plugins)


def variables_of_spec(spec: SweepSpec) -> dict[str, Variable]:
    """Return all variables of the cube of a sweep by name."""
    return variables(spec.scores, results_of_spec(spec))


def variables(
    scores: Collection[str], results: Mapping[str, Variable] = ALL_RESULTS
) -> dict[str, Variable]:
    """Return all variables of a cube by name; scores beside the ARI only if they are given.

    Examples
    --------
    >>> [name for name in variables(["silhouette"]) if name.startswith("imwk_")]
    ['imwk_ari', 'imwk_iterations', 'imwk_clusters', 'imwk_silhouette']
    """
    return {
        name: variable
        for name, variable in {**results, **ABOUT_TILES}.items()
        if variable.score in (None, "ari", *scores)
    }
