"""What each rule picks among the candidates of a data set, beside k-means++."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from os import PathLike

import numpy as np

from pipeline.core import adjusted_rand_index, ensembles
from pipeline.core.agreement import agreement_with
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import as_choice
from pipeline.score_facts import SCORE_FACTS
from storage import CubeLocation, open_cube
from storage.handle import open_handle
from workflows.choice.candidates import Candidate, Candidates
from workflows.choice.few_labels import FewLabels, read_few_labels
from workflows.choice.picks import BASELINE, BY_LABELS, ENSEMBLE, DatasetChoice, Pick
from workflows.errors import ArgumentError

#: The rules that are always shown.
RULES = ("info", "central", "silhouette", "calinski-harabasz")
#: Below so many features, `info` chooses worse than the silhouette.
INFO_FEATURES = 3
#: The members of the largest ensemble.
LARGEST_ENSEMBLE = 40


def choose(
    location: CubeLocation,
    config: str | None = None,
    dataset: int | None = None,
    *,
    ensemble: bool = False,
    labels: str | PathLike[str] | None = None,
) -> list[DatasetChoice]:
    """Return what each rule picks for the data sets of a cube, without their classes.

    Parameters
    ----------
    location : path or URL
        A cube that keeps labels, as those of tables do by default.
    config : str, optional
        A configuration. By default all.
    dataset : int, optional
        The number of a data set. By default all.
    ensemble : bool
        Add the consensus of the best runs by `info`, if there are at least 3 features.
    labels : path, optional
        A CSV file with the classes of a few rows of the only data set: the number of a row, from
        1, and its class.

    Returns
    -------
    list of DatasetChoice
        One for each data set with results.

    Raises
    ------
    CubeError
        If the cube keeps no labels; the message tells how to get them.
    InvalidInputError
        If there is no such configuration or data set, no result yet, or the file does not fit.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.datasets import Table
    >>> from pipeline.spec.sweep import Sweep
    >>> from workflows import submit
    >>> table = Table(np.array([[0.0], [1.0], [8.0], [9.0]]), ("size",))
    >>> keys = {"normalisations": ["range"], "p1": [1.5, 2], "p2": [3], "restarts": 5}
    >>> with TemporaryDirectory() as folder:
    ...     _ = submit(Sweep.of({"mine": table}, k=2, **keys), f"{folder}/cube.zarr", workers=0)
    ...     (found,) = choose(f"{folder}/cube.zarr")
    >>> found.default, found.by("silhouette").what, found.by("silhouette").labels.tolist()
    ('silhouette', 'range, p1 = 1.5, not rescaled', [1, 1, 0, 0])
    """
    competing = list(all_candidates(location, config, dataset))
    if not competing:
        raise ArgumentError("No tile is done yet. Submit the sweep, or wait for it.")
    if labels is None:
        return [_choice(each, None, ensemble) for each in competing]
    if len(competing) > 1:
        raise ArgumentError(
            f"Labels are of one data set, and there are {len(competing)}. Choose one of them.",
            "config",
            "dataset",
        )
    known = read_few_labels(labels, competing[0].rows)
    return [_choice(competing[0], known, ensemble)]


def all_candidates(
    location: CubeLocation, config: str | None = None, dataset: int | None = None
) -> Iterator[Candidates]:
    """Yield the candidates of the data sets of a cube that have results."""
    handle, cube = open_handle(location), open_cube(location)
    configs = handle.spec.configs
    wanted = configs if config is None else [as_choice(config, "configuration", configs)]
    for name in wanted:
        every = range(handle.spec.dataset_count(name))
        for number in every if dataset is None else [dataset]:
            found = Candidates(handle, cube, name, number)
            if found.all:
                yield found


def default_rule(features: int) -> str:
    """Return the rule that chooses by default.

    Examples
    --------
    >>> default_rule(2), default_rule(3)
    ('silhouette', 'info')
    """
    return "info" if features >= INFO_FEATURES else "silhouette"


def best_place(candidates: Candidates, rule: str, among: BoolArray | None = None) -> int:
    """Return the place of the candidate with the best score, the first one on a tie.

    Parameters
    ----------
    candidates : Candidates
        What competes.
    rule : str
        A name in `pipeline.SCORE_FACTS`.
    among : ndarray of bool, optional
        The candidates that may be picked. By default all.
    """
    if SCORE_FACTS[rule].needs_classes and candidates.classes is None:
        raise ArgumentError(
            f"{rule} needs classes, and {candidates.config} has none. Choose another rule, such "
            "as info.",
            "by",
        )
    goodness = candidates.goodness(rule)
    # An undefined score can be -inf, so that those left out cannot be marked by it
    places = np.arange(len(goodness)) if among is None else np.flatnonzero(among)
    return int(places[goodness[places].argmax()])


def default_pick(candidates: Candidates) -> Pick:
    """Return what the default rule picks."""
    return _best_pick(candidates, default_rule(candidates.features))


def pick_baseline(candidates: Candidates, rule: str) -> Pick | None:
    """Return the k-means++ run that a rule prefers, of one for each normalisation."""
    is_kmeans = np.array([each.part == "kmeans" for each in candidates.all])
    if not is_kmeans.any():
        return None
    place = best_place(candidates, rule, is_kmeans)
    return _pick(candidates, BASELINE, place, candidates.scores(rule))


def _choice(candidates: Candidates, known: FewLabels | None, ensemble: bool) -> DatasetChoice:
    baseline = pick_baseline(candidates, default_rule(candidates.features))
    picks = [_best_pick(candidates, rule) for rule in RULES]
    if ensemble and candidates.features >= INFO_FEATURES:
        picks.append(_best_ensemble(candidates))
    if known is not None:
        picks.append(_pick_by_labels(candidates, known))
    info = picks[RULES.index("info")]
    return DatasetChoice(
        candidates.config,
        candidates.dataset,
        candidates.k,
        default_rule(candidates.features),
        tuple(_flagged(pick, candidates, baseline) for pick in picks),
        baseline,
        None if baseline is None else info.score - _info(candidates, baseline.labels),
    )


def _info(candidates: Candidates, labels: IntArray) -> float:
    return float(candidates.score_without_place("info", labels[np.newaxis])[0])


def _best_pick(candidates: Candidates, rule: str) -> Pick:
    return _pick(candidates, rule, best_place(candidates, rule), candidates.scores(rule))


def _pick(candidates: Candidates, rule: str, place: int, scores: Float64Array) -> Pick:
    (labels,) = candidates.labels_of([place])
    return Pick(rule, candidates.all[place], labels, float(scores[place]), _ari(candidates, labels))


def _ari(candidates: Candidates, labels: IntArray) -> float | None:
    classes = candidates.classes
    return None if classes is None else float(agreement_with(classes, adjusted_rand_index)(labels))


def _best_ensemble(candidates: Candidates) -> Pick:
    scores = candidates.scores("info")
    best = np.argsort(-scores, kind="stable")[:LARGEST_ENSEMBLE]
    found = ensembles(candidates.labels_of(best), scores[best], candidates.k)
    if not found:  # fewer runs than the smallest ensemble has
        return _pick(candidates, ENSEMBLE, int(best[0]), scores)
    labellings = np.stack(list(found.values()))
    rated = candidates.score_without_place("info", labellings)
    labels, score = labellings[rated.argmax()], float(rated.max())
    return Pick(ENSEMBLE, None, labels, score, _ari(candidates, labels))


def _pick_by_labels(candidates: Candidates, known: FewLabels) -> Pick:
    """Pick by the ARI with the known rows. Few rows tie often: then the default rule decides."""
    scores = np.asarray(adjusted_rand_index(known.classes, candidates.labels_at(known.rows)))
    goodness = candidates.scores(default_rule(candidates.features))
    best = np.where(scores == scores.max(), goodness, -np.inf)
    return _pick(candidates, BY_LABELS, int(best.argmax()), scores)


def _flagged(pick: Pick, candidates: Candidates, baseline: Pick | None) -> Pick:
    return replace(pick, flags=tuple(_flags(pick, candidates, baseline)))


def _flags(pick: Pick, candidates: Candidates, baseline: Pick | None) -> Iterable[str]:
    if pick.candidate is not None and _is_on_edge(pick.candidate, candidates):
        yield "on the edge of the grid"
    if pick.clusters < candidates.k:
        yield f"{pick.clusters} clusters, not {candidates.k}"
    if baseline is not None and adjusted_rand_index(baseline.labels, pick.labels) == 1:
        yield "equals the baseline"


def _is_on_edge(candidate: Candidate, candidates: Candidates) -> bool:
    grids = ((candidate.p1, candidates.spec.p1), (candidate.p2, candidates.spec.p2))
    return any(p in (min(grid), max(grid)) for p, grid in grids if p is not None and len(grid) > 2)
