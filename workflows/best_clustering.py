"""The best clustering of a cube's table: as the cube keeps it, or computed again from the table."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pipeline.core.types import Float64Array, FloatArray
from pipeline.core.validation import as_choice
from pipeline.execution.block import silhouette_seed
from pipeline.execution.keeping import rounded_weights
from pipeline.spec import KEEP, SweepSpec
from storage import CubeLocation, labels, open_cube, read_spec, stored_table, weights
from storage.handle import CubeHandle, open_handle
from storage.query import main_variable, select
from workflows.answers import Question, answer
from workflows.clustering import Clustering, Run, cluster_table, clustering_of
from workflows.errors import ArgumentError


@dataclass(frozen=True)
class Choice:
    """The place of the best result in a cube, and its value."""

    config: str
    normalisation: str
    p1: float
    p2: float
    variable: str
    value: float

    def __str__(self) -> str:
        pair = f"p1 = {self.p1:g}, p2 = {self.p2:g}"
        return f"{self.normalisation}, {pair}: the best {self.variable}, {self.value:.4f}"


def best_choice(
    location: CubeLocation,
    config: str | None = None,
    normalisation: str | None = None,
    p1: float | None = None,
    p2: float | None = None,
) -> Choice:
    """Return where imwk-means on rescaled data has its highest ARI or, without labels, silhouette.

    Parameters
    ----------
    location : path
        A cube that contains a table.
    config : str, optional
        The name of the table. Required if the cube contains several.
    normalisation, p1, p2 : optional
        Restrict the choice to these results.

    Raises
    ------
    InvalidInputError
        If the cube does not have such results.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from pipeline.datasets import Table
    >>> from pipeline.spec.sweep import Sweep
    >>> from workflows import submit
    >>> table = Table(np.array([[0.0], [1.0], [9.0]]), ("size",), np.array([0, 0, 1]), ("a", "b"))
    >>> keys = {"normalisations": ["range"], "parts": ["imwk", "rescaled_imwk"], "restarts": 0}
    >>> sweep = Sweep.of({"mine": table}, p1=[2], p2=[3], **keys)
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(sweep, f"{folder}/cube.zarr", workers=0)
    ...     print(best_choice(f"{folder}/cube.zarr"))
    ...     cluster_best(f"{folder}/cube.zarr", best_choice(f"{folder}/cube.zarr")).ari
    range, p1 = 2, p2 = 3: the best rescaled_imwk_ari, 1.0000
    1.0
    """
    cube = open_cube(location)
    config = _table_of(read_spec(location), config)
    question = Question(
        main_variable(select(cube, config=config)),
        config=(config,),
        normalisation=_given(normalisation),
        p1=_given(p1),
        p2=_given(p2),
        top=1,
    )
    rows = answer(cube, question)
    if rows.empty:
        raise ArgumentError(f"No tile of {config} is done yet. Submit the sweep, or wait for it.")
    best = rows.iloc[0]
    return Choice(
        config, best.normalisation, best.p1, best.p2, question.asked, best[question.asked]
    )


def cluster_best(location: CubeLocation, best: Choice) -> Clustering:
    """Return the clusters of a cube's table at its best result; compute only what it does not keep.

    Weights have five digits, to which cubes keep them.

    Parameters
    ----------
    location : path
        The cube.
    best : Choice
        The return value of `best_choice`, which has an example.
    """
    handle = open_handle(location)
    spec, table = handle.spec, stored_table(handle, best.config)
    _, _, k = spec.shape(best.config)
    seed = silhouette_seed(spec, best.config, dataset=0)
    if set(KEEP) <= set(spec.keep) and "imwk" in spec.parts:
        exponents = {"p1": best.p1, "p2": best.p2}
        runs = _kept_runs(handle, best)
        return clustering_of(table, k, best.normalisation, exponents, runs, seed)
    again = cluster_table(
        table,
        k,
        best.p1,
        best.p2,
        normalisation=best.normalisation,
        centre=spec.centre,
        dtype=spec.dtype,
        seed=seed,
    )
    runs = {name: replace(run, weights=_shown(run.weights)) for name, run in again.runs.items()}
    return replace(again, runs=runs)


def _kept_runs(handle: CubeHandle, best: Choice) -> dict[str, Run]:
    where: dict[str, Any] = {
        "config": best.config,
        "dataset": 0,
        "normalisation": best.normalisation,
        "p1": best.p1,
    }
    return {
        "p1": _kept_run(handle, where | {"part": "imwk"}),
        "p2": _kept_run(handle, where | {"p2": best.p2}),
    }


def _kept_run(handle: CubeHandle, where: dict[str, Any]) -> Run:
    found = labels(handle, **where).load()
    of_all = weights(handle, **where).values
    formed = ~np.isnan(of_all).any(axis=1)
    return Run(found.values.astype(np.int64), _shown(of_all[formed]), bool(found.converged))


def _shown(weights: FloatArray) -> Float64Array:
    """Round weights to the five digits to which cubes keep them.

    Examples
    --------
    >>> _shown(np.array([[2 / 3, 1 / 3]])).tolist()
    [[0.66667, 0.33333]]
    """
    return np.char.mod("%.5g", rounded_weights(weights)).astype(np.float64)


def _given(value: Any) -> tuple[Any, ...]:
    return () if value is None else (value,)


def _table_of(spec: SweepSpec, config: str | None) -> str:
    tables = list(spec.datasets.matrices)
    if not tables:
        raise ArgumentError("This cube has synthetic data only, so it has no table to cluster.")
    if config is None and len(tables) > 1:
        raise ArgumentError(
            f"This cube has {len(tables)} tables: {', '.join(tables)}. Choose one of them.",
            "config",
        )
    return tables[0] if config is None else as_choice(config, "table", tables)
