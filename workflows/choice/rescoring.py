"""Add scores to a cube from the labels that it keeps."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.execution.block import run_block, tile_scorer
from pipeline.plugins.registry import installed_names
from pipeline.score_facts import SCORE_FACTS, SCORES
from pipeline.scoring import Scorer
from pipeline.spec import RESTARTED, SweepSpec, Tile
from pipeline.spec.blocks import Block
from pipeline.spec.plugins import clusterer_parts, named_plugins, plugin_scores
from storage import CubeLocation, labels, read_spec, stored_table
from storage.errors import CubeError
from storage.extend import add_scores
from storage.handle import CubeHandle
from storage.layout.grids import Grid
from storage.layout.schema import results_of_spec
from workflows.errors import ArgumentError

#: The parts whose labels are kept, with all their exponents.
KEPT = ("imwk", "rescaled_imwk")


def score_cube(location: CubeLocation, scores: Iterable[str]) -> list[str]:
    """Add scores to a cube from the labels that it keeps, with the bits of a sweep.

    Parameters
    ----------
    location : path or URL
        A cube that keeps labels, to which no sweep writes meanwhile.
    scores : iterable of str
        Names of scores, as in the key `scores` of a spec: built in, or of plug-ins.

    Returns
    -------
    list of str
        The scores that the cube did not have. Its spec names them from now on, so that resuming or
        extending the cube computes them too.

    Raises
    ------
    CubeError
        If the cube keeps no labels.
    InvalidInputError
        If a score is unknown, needs classes that no data have, or cannot be stored.

    Notes
    -----
    Restarts of k-means++ and clusterers keep no labels, so that they are computed again, with the
    runs of imwk-means at p1 that rescale for them. For small tables that can be half of the time of
    a sweep.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import Table
    >>> from pipeline.spec.sweep import Sweep
    >>> from storage import open_cube
    >>> from workflows import submit
    >>> table = Table(np.array([[0.0], [1.0], [8.0], [9.0]]), ("size",))
    >>> keys = {"normalisations": ["range"], "p1": [1.5, 2], "p2": [3], "restarts": 0}
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(Sweep.of({"mine": table}, k=2, **keys), f"{folder}/cube.zarr", workers=0)
    ...     score_cube(f"{folder}/cube.zarr", ["davies-bouldin", "info"])
    ...     open_cube(f"{folder}/cube.zarr").imwk_davies_bouldin.values.ravel().round(3)
    ['davies-bouldin']
    array([0.125, 0.125])
    """
    wanted, spec = list(scores), read_spec(location)
    for name in wanted:
        _refuse_unfit(name, spec)
    if "labels" not in spec.keep:
        raise CubeError(
            f"The cube {location} keeps no labels to score. Submit the sweep to a new cube, with "
            f"scores = {wanted!r}".replace("'", '"')
            + " in its spec."
        )
    return add_scores(location, wanted, _rescored)


def _refuse_unfit(name: str, spec: SweepSpec) -> None:
    if name in spec.scores:  # also of a plug-in
        return
    if name == "ari":
        raise ArgumentError(
            "ari is computed by every sweep of data with classes, so it is never added.", "add"
        )
    of_plugins = plugin_scores(named_plugins({"scores": [name]}))
    facts = SCORE_FACTS.get(name) or of_plugins.get(name)
    if facts is not None and facts.needs_tile:
        raise ArgumentError(
            f"{name} compares all labellings of a tile, and changes with every extension, so it is "
            "not stored. imwk choose and imwk cluster --by central compute it.",
            "add",
        )
    known = [*SCORES, *installed_names("score")]
    if facts is None or name not in known:
        raise ArgumentError(f"Unknown score {name!r}. Known: {', '.join(known)}.", "add")
    if facts.needs_classes and set(spec.configs) <= set(spec.unlabelled):
        raise ArgumentError(f"{name} needs classes, and the data of this cube have none.", "add")


def _rescored(
    handle: CubeHandle, tile: Tile, grid: Grid, scores: list[str]
) -> dict[str, NDArray[Any]]:
    """Return the new scores of all labellings of a tile, by variable."""
    spec = handle.spec.model_copy(update={"scores": tuple(scores), "keep": ()})
    own = tile.config in spec.datasets.matrices
    table = stored_table(handle, tile.config, tile.dataset) if own else None
    restarted = tuple(part for part in RESTARTED if part in spec.parts)
    restarted += clusterer_parts(spec.clusterers)
    found: dict[str, NDArray[Any]] = {}
    if restarted:
        found |= run_block(spec, Block(tile, restarted, grid.p1, grid.p2), table).arrays
    scorer = tile_scorer(spec, tile, table, scores)
    for part in KEPT:
        if part in spec.parts:
            found |= _of_kept(handle, tile, grid, part, scorer)
    known = results_of_spec(spec)
    return {name: values for name, values in found.items() if known[name].score in scores}


def _of_kept(
    handle: CubeHandle, tile: Tile, grid: Grid, part: str, scorer: Scorer
) -> dict[str, NDArray[Any]]:
    exponents: dict[str, Any] = {"p1": grid.p1, "p2": grid.p2}
    if part == "imwk":
        del exponents["p2"]
    where: dict[str, Any] = {"dataset": tile.dataset, "normalisation": tile.normalisation}
    kept = labels(handle, config=tile.config, part=part, **where, **exponents)
    # One p1 at a time, to bound the memory
    rows = [scorer.score(np.atleast_2d(row.values)) for row in kept]
    return {
        f"{part}_{name}": np.stack([row[name] for row in rows]).reshape(kept.shape[:-1])
        for name in rows[0]
    }
