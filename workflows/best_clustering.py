"""The best clustering of a cube's table: as the cube keeps it, or computed again from the table."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isfinite
from typing import Any

import numpy as np

from pipeline.core.types import Float64Array, FloatArray, IntArray
from pipeline.core.validation import as_choice
from pipeline.datasets.tables.table import Table
from pipeline.execution.block import silhouette_seed
from pipeline.execution.keeping import rounded_weights
from pipeline.spec import KEEP, SweepSpec
from pipeline.spec.plugins import require_plugin
from storage import CubeLocation, labels, open_cube, read_spec, stored_table, weights
from storage.compatibility import refuse_other_rules
from storage.handle import CubeHandle, open_handle
from storage.query import described, main_variable, score_variable, select
from workflows.answers import Question, answer
from workflows.choice import Candidate, Pick
from workflows.choice.choosing import all_candidates
from workflows.choice.one_run import ADVICE, BESIDE_SCORES, no_such_run, one_run
from workflows.choice.picks import BASELINE, ENSEMBLE
from workflows.choice.shown import pick_facts
from workflows.clustering import Clustering, Run, cluster_table, clustering_of
from workflows.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class Choice:
    """The run of a table that was chosen.

    Attributes
    ----------
    config : str
        The table.
    candidate : Candidate or None
        The run. None for a consensus of runs.
    by : str
        The name of the score or, if the cube keeps no labels, of the variable; ``"k-means++"``,
        ``"ensemble"`` or ``"advice"``.
    value : float
        The value of the score.
    baseline : Pick or None
        The k-means++ run that is best by this score. None if the cube does not keep one.
    rated_by : str
        The name of the score. The same as `by`, if that is a score.
    labels : ndarray of int, shape (n,), or None
        The labels of a consensus, which a cube does not keep.
    advice : str or None
        What `choose` advises, if that was asked for, or if the default choice is another one.
    """

    config: str
    candidate: Candidate | None
    by: str
    value: float
    baseline: Pick | None = None
    rated_by: str = ""
    labels: IntArray | None = None
    advice: str | None = None

    def __str__(self) -> str:
        lines = [self._first_line(), *self._baseline_line()]
        return "\n".join(lines if self.advice is None else [*lines, f"advice: {self.advice}"])

    def _first_line(self) -> str:
        value = f"{self.rated_by} {self.value:.4f}"
        if self.candidate is None:
            return f"consensus of runs, without exponents and weights: {value}"
        if self.by in BESIDE_SCORES:
            why = "advised" if self.by == ADVICE else "the baseline"
            return f"{self.candidate}: {why}, {value}"
        return f"{self.candidate}: the best {self.by}, {self.value:.4f}"

    def _baseline_line(self) -> Iterator[str]:
        other = self.baseline
        if other is None or self.by == BASELINE:
            return
        known = None if self.rated_by == "ari" else other.ari
        ari = "" if known is None else f", adjusted Rand index {known:.4f}"
        yield f"baseline: {other.candidate}, {self.rated_by} {other.score:.4f}{ari}"


def best_choice(
    location: CubeLocation,
    config: str | None = None,
    normalisation: str | None = None,
    p1: float | None = None,
    p2: float | None = None,
    by: str | None = None,
) -> Choice:
    """Return the run of a table that is best by a score, or that is chosen otherwise.

    If the cube keeps labels, plain and rescaled runs and k-means++ compete, as for `choose`;
    otherwise imwk-means on rescaled data.

    Parameters
    ----------
    location : path
        A cube that contains a table.
    config : str, optional
        The name of the table. Required if the cube contains several.
    normalisation, p1, p2 : optional
        Restrict the choice to these results; a normalisation restricts the baseline too.
    by : str, optional
        The score; also that of a plug-in, if the cube has it. In a cube that keeps labels also
        ``"k-means++"``, the baseline, ``"ensemble"``, the consensus of the best runs by `info`, and
        ``"advice"``, what `choose` advises. By default the rule that `choose` uses by default:
        `info` or, below 3 features, the silhouette. If the cube keeps no labels, by default the ARI
        or, without classes, the silhouette.

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
    range, p1 = 2, not rescaled: the best silhouette, 0.5880
    1.0
    """
    spec = read_spec(location)
    config = _table_of(spec, config)
    where = {"normalisation": normalisation, "p1": p1, "p2": p2}
    if "labels" in spec.keep:
        return _best_of_kept(location, config, by, where)
    return _best_of_results(location, config, by, where)


def _best_of_kept(
    location: CubeLocation, config: str, by: str | None, where: dict[str, Any]
) -> Choice:
    allowed = select(open_cube(location), **where)
    every = list(all_candidates(location, config))
    if not every:
        raise _nothing_done(config)
    found = one_run(every[0], by, where, allowed)
    pick = found.pick
    return Choice(
        config,
        pick.candidate,
        by or found.rated_by,
        pick.score,
        found.baseline,
        found.rated_by,
        pick.labels if pick.candidate is None else None,
        found.advice,
    )


def _best_of_results(
    location: CubeLocation, config: str, by: str | None, where: dict[str, Any]
) -> Choice:
    if by in BESIDE_SCORES:
        raise ArgumentError(
            f"{by} compares the labels of all runs, and this cube keeps none. Choose a score, such "
            "as silhouette.",
            "by",
        )
    cube = open_cube(location)
    variable = main_variable(select(cube, config=config))
    asked = variable if by is None else score_variable(variable, by, described(cube))
    given: dict[str, Any] = {dim: _given(wanted) for dim, wanted in where.items()}
    rows = answer(cube, Question(asked, config=(config,), **given, top=1))
    if rows.empty:
        anywhere = answer(cube, Question(asked, config=(config,), top=1))
        raise _nothing_done(config) if anywhere.empty else no_such_run(config)
    best = rows.iloc[0]
    candidate = Candidate("rescaled_imwk", best.normalisation, best.p1, best.p2)
    return Choice(config, candidate, asked, best[asked], rated_by=asked)


def _nothing_done(config: str) -> ArgumentError:
    return ArgumentError(f"No tile of {config} is done yet. Submit the sweep, or wait for it.")


def cluster_best(location: CubeLocation, best: Choice) -> Clustering:
    """Return the clusters of a cube's table at its best result; compute only what it does not keep.

    Weights have four digits, to which cubes keep them. K-means++ and a consensus have no weights.

    Parameters
    ----------
    location : path
        The cube.
    best : Choice
        The return value of `best_choice`, which has an example.

    Raises
    ------
    CubeMismatchError
        If the run has to be computed again, and the cube was computed by other rules.
    PluginError
        If this process lacks the run's normalisation.
    """
    handle = open_handle(location)
    spec, table, run = handle.spec, stored_table(handle, best.config), best.candidate
    _, _, k = spec.shape(best.config)
    seed = silhouette_seed(spec, best.config, dataset=0)
    if run is None:
        return clustering_of(table, k, "", {}, _consensus_run(best, table), seed)
    require_plugin(spec.plugins, "normalisation", run.normalisation)
    if run.p1 is None or (set(KEEP) <= set(spec.keep) and "imwk" in spec.parts):
        given = {"p1": run.p1, "p2": run.p2}
        exponents = {name: p for name, p in given.items() if p is not None}
        runs = _kept_runs(handle, best.config, run)
        return clustering_of(table, k, run.normalisation, exponents, runs, seed)
    refuse_other_rules(location, spec)
    again = cluster_table(
        table,
        k,
        run.p1,
        run.p2,
        normalisation=run.normalisation,
        centre=spec.centre,
        dtype=spec.dtype,
        seed=seed,
    )
    runs = {name: replace(run, weights=_shown(run.weights)) for name, run in again.runs.items()}
    return replace(again, runs=runs)


def choice_facts(best: Choice) -> dict[str, Any]:
    """Return by what a run was chosen for JSON, and the baseline."""
    baseline = None if best.baseline is None else pick_facts(best.baseline)
    return {
        "part": None if best.candidate is None else best.candidate.part,
        "by": best.by,
        "rated_by": best.rated_by,
        "score": best.value if isfinite(best.value) else None,
        "baseline": baseline,
        "advice": best.advice,
    }


def _consensus_run(best: Choice, table: Table) -> dict[str, Run]:
    assert best.labels is not None
    return {ENSEMBLE: Run(best.labels, np.empty((0, len(table.features))), converged=True)}


def _kept_runs(handle: CubeHandle, config: str, run: Candidate) -> dict[str, Run]:
    where: dict[str, Any] = {
        "config": config,
        "dataset": 0,
        "normalisation": run.normalisation,
    }
    if run.p1 is None:
        found = labels(handle, **where, part="kmeans").values.astype(np.int64)
        _, features, _ = handle.spec.shape(config)
        return {"kmeans": Run(found, np.empty((0, features)), converged=True)}
    runs = {"p1": _kept_run(handle, where | {"p1": run.p1, "part": "imwk"})}
    if run.p2 is not None:
        runs["p2"] = _kept_run(handle, where | {"p1": run.p1, "p2": run.p2})
    return runs


def _kept_run(handle: CubeHandle, where: dict[str, Any]) -> Run:
    found = labels(handle, **where).load()
    of_all = weights(handle, **where).values
    formed = ~np.isnan(of_all).any(axis=1)
    return Run(found.values.astype(np.int64), _shown(of_all[formed]), bool(found.converged))


def _shown(weights: FloatArray) -> Float64Array:
    """Round weights to the four digits to which cubes keep them.

    Examples
    --------
    >>> _shown(np.array([[2 / 3, 1 / 3]])).tolist()
    [[0.6667, 0.3333]]
    """
    return np.char.mod("%.4g", rounded_weights(weights)).astype(np.float64)


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
    chosen = tables[0] if config is None else as_choice(config, "table", tables)
    count = spec.dataset_count(chosen)
    if count > 1:
        raise ArgumentError(
            f"{chosen} has {count} data sets, and only a single table can be clustered. Cluster "
            "one of its files in place of the cube."
        )
    return chosen
