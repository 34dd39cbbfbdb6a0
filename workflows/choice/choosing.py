"""What each rule picks among the candidates of a data set, beside k-means++."""

from collections.abc import Iterator
from dataclasses import replace
from os import PathLike

import numpy as np

from pipeline.core import adjusted_rand_index, ensembles
from pipeline.core.agreement import agreement_with
from pipeline.core.consensus.coassociation import ENSEMBLE_SIZES
from pipeline.core.types import BoolArray, Float64Array, IntArray
from pipeline.core.validation import as_choice
from storage import CubeLocation, open_cube
from storage.handle import open_handle
from workflows.choice.candidates import Candidates
from workflows.choice.few_labels import FewLabels, read_few_labels
from workflows.choice.flags import pick_flags, score_flags
from workflows.choice.picks import BASELINE, BY_LABELS, ENSEMBLE, DatasetChoice, Pick
from workflows.errors import ArgumentError

#: The rules that are always shown.
RULES = ("info", "central", "silhouette", "calinski-harabasz")
#: Below so many features, `info` chooses worse than the silhouette.
INFO_FEATURES = 3
#: The part of the candidates that are the baseline.
BASELINE_PART = "kmeans"


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
        Add the consensus of the best runs by `info`, if there are at least 3 features and 5 runs.
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
        return [choice_among(each, ensemble=ensemble) for each in competing]
    if len(competing) > 1:
        raise ArgumentError(
            f"Labels are of one data set, and there are {len(competing)}. Choose one of them.",
            "config",
            "dataset",
        )
    known = read_few_labels(labels, competing[0].rows)
    return [choice_among(competing[0], known, ensemble=ensemble)]


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
        A name in `candidates.facts`.
    among : ndarray of bool, optional
        The candidates that may be picked. By default all.
    """
    if candidates.facts[rule].needs_classes and candidates.classes is None:
        raise ArgumentError(
            f"{rule} needs classes, and {candidates.config} has none. Choose another rule, such "
            "as info.",
            "by",
        )
    goodness = candidates.goodness(rule)
    # An undefined score can be -inf, so that those left out cannot be marked by it
    places = np.arange(len(goodness)) if among is None else np.flatnonzero(among)
    return int(places[goodness[places].argmax()])


def pick_by(candidates: Candidates, rule: str, among: BoolArray | None = None) -> Pick:
    """Return what a rule picks. The arguments are those of `best_place`."""
    place = best_place(candidates, rule, among)
    return _pick(candidates, rule, place, candidates.scores(rule), among)


def pick_baseline(candidates: Candidates, rule: str, among: BoolArray | None = None) -> Pick | None:
    """Return the k-means++ run that a rule prefers, of one for each normalisation.

    Parameters
    ----------
    candidates : Candidates
        What competes.
    rule : str
        A name in `candidates.facts`.
    among : ndarray of bool, optional
        The candidates that may be picked. By default all.
    """
    allowed = np.array([each.part == BASELINE_PART for each in candidates.all])
    if among is not None:
        allowed &= among
    if not allowed.any():
        return None
    scores = candidates.scores(rule)
    pick = _pick(candidates, BASELINE, best_place(candidates, rule, allowed), scores, allowed)
    return _flagged(pick, candidates.k, None)


def best_ensemble(candidates: Candidates, among: BoolArray | None = None) -> Pick | str:
    """Return the best consensus of runs by `info`, or why there is none.

    Parameters
    ----------
    candidates : Candidates
        What competes.
    among : ndarray of bool, optional
        The candidates that may be members. By default all.
    """
    places = np.arange(len(candidates.all)) if among is None else np.flatnonzero(among)
    if candidates.features < INFO_FEATURES:
        return f"it needs {INFO_FEATURES} features, and there are {candidates.features}"
    if len(places) < min(ENSEMBLE_SIZES):
        return f"it needs {min(ENSEMBLE_SIZES)} runs, and there are {len(places)}"
    scores = candidates.scores("info")[places]
    best = np.argsort(-scores, kind="stable")[: max(ENSEMBLE_SIZES)]
    found = ensembles(candidates.labels_of(places[best]), scores[best], candidates.k)
    labellings = np.stack(list(found.values()))
    rated = candidates.score_without_place("info", labellings)
    labels, score = labellings[rated.argmax()], float(rated.max())
    return Pick(ENSEMBLE, None, labels, score, _ari(candidates, labels))


def choice_among(
    candidates: Candidates, known: FewLabels | None = None, *, ensemble: bool = False
) -> DatasetChoice:
    """Return what each rule picks among some candidates, as `choose` does for a whole cube."""
    default = default_rule(candidates.features)
    baseline = pick_baseline(candidates, default)
    picks = [pick_by(candidates, rule) for rule in RULES]
    info = picks[RULES.index("info")]
    consensus = best_ensemble(candidates) if ensemble else None
    if isinstance(consensus, Pick):
        picks.append(consensus)
    if known is not None:
        picks.append(_pick_by_labels(candidates, known))
    return DatasetChoice(
        candidates.config,
        candidates.dataset,
        candidates.k,
        default,
        tuple(_flagged(pick, candidates.k, baseline) for pick in picks),
        baseline,
        None if baseline is None else info.score - _info(candidates, baseline.labels),
        normalisations=len(candidates.normalisations),
        labelled_rows=0 if known is None else len(known.rows),
        no_ensemble=consensus if isinstance(consensus, str) else None,
    )


def _info(candidates: Candidates, labels: IntArray) -> float:
    return float(candidates.score_without_place("info", labels[np.newaxis])[0])


def _pick(
    candidates: Candidates,
    rule: str,
    place: int,
    scores: Float64Array,
    among: BoolArray | None = None,
) -> Pick:
    (labels,) = candidates.labels_of([place])
    compared = scores if among is None else np.where(among, scores, np.nan)
    flags = tuple(score_flags(candidates, place, compared))
    ari = _ari(candidates, labels)
    return Pick(rule, candidates.all[place], labels, float(scores[place]), ari, flags)


def _ari(candidates: Candidates, labels: IntArray) -> float | None:
    classes = candidates.classes
    return None if classes is None else float(agreement_with(classes, adjusted_rand_index)(labels))


def _pick_by_labels(candidates: Candidates, known: FewLabels) -> Pick:
    """Pick by the ARI with the known rows. Few rows tie often: then the default rule decides."""
    scores = np.asarray(adjusted_rand_index(known.classes, candidates.labels_at(known.rows)))
    rule = default_rule(candidates.features)
    place = best_place(candidates, rule, scores == scores.max())
    return _pick(candidates, BY_LABELS, place, scores)


def _flagged(pick: Pick, k: int, baseline: Pick | None) -> Pick:
    return replace(pick, flags=(*pick.flags, *pick_flags(pick, k, baseline)))
