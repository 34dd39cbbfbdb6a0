"""The run of one data set that a rule picks, k-means++, a consensus, or what is advised."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from pipeline.core.types import BoolArray
from pipeline.core.validation import as_choice
from workflows.choice.advice import advice_on, taken_pick
from workflows.choice.candidates import Candidate, Candidates
from workflows.choice.choosing import (
    best_ensemble,
    choice_among,
    default_rule,
    pick_baseline,
    pick_by,
)
from workflows.choice.picks import BASELINE, ENSEMBLE, Pick, ari_between
from workflows.errors import ArgumentError

#: The name of what `choose` advises.
ADVICE = "advice"
#: What can choose beside scores.
BESIDE_SCORES = (BASELINE, ENSEMBLE, ADVICE)


@dataclass(frozen=True, eq=False)
class OneRun:
    """A pick, the score by which it is rated, and what is shown beside it.

    Attributes
    ----------
    pick : Pick
        The pick.
    rated_by : str
        The name of the score of the pick and of the baseline.
    baseline : Pick or None
        The k-means++ run that is best by this score. None if there is none.
    advice : str or None
        What `choose` advises, where that was asked for or the default pick is another one.
    """

    pick: Pick
    rated_by: str
    baseline: Pick | None
    advice: str | None = None


def one_run(
    candidates: Candidates, by: str | None, where: dict[str, Any], allowed: xr.Dataset
) -> OneRun:
    """Return the run of a data set that a rule picks.

    Parameters
    ----------
    candidates : Candidates
        What competes.
    by : str or None
        A name in `candidates.facts` or in `BESIDE_SCORES`. By default the default rule.
    where : dict
        The normalisation, p1 and p2 that were asked for, or None.
    allowed : xarray.Dataset
        The part of the cube that has them.

    Raises
    ------
    InvalidInputError
        If there is no such run, or no such rule.
    """
    default = default_rule(candidates.features)
    rule = as_choice(by or default, "rule", [*candidates.facts, *BESIDE_SCORES])
    if rule == ADVICE:
        return _advised(candidates, where)
    among = _among(candidates, where, allowed)
    same = _among(candidates, {"normalisation": where["normalisation"]}, allowed)
    if rule == ENSEMBLE:
        return OneRun(_ensemble(candidates, among), "info", pick_baseline(candidates, "info", same))
    if rule == BASELINE:
        kmeans = pick_baseline(candidates, default, among)
        if kmeans is None:
            raise no_such_run(candidates.config)
        return OneRun(kmeans, default, kmeans)
    if not among.any():
        raise no_such_run(candidates.config)
    found = OneRun(pick_by(candidates, rule, among), rule, pick_baseline(candidates, rule, same))
    is_default = by is None and not _restrictions(where)
    return _with_other_advice(candidates, found) if is_default else found


def no_such_run(config: str) -> ArgumentError:
    """Return the error that a restriction leaves no run."""
    return ArgumentError(
        f"No run of {config} with these options is done. Leave out some of them, or wait for the "
        "sweep.",
        "normalisation",
        "p1",
        "p2",
    )


def _advised(candidates: Candidates, where: dict[str, Any]) -> OneRun:
    given = _restrictions(where)
    if given:
        raise ArgumentError(
            "The advice compares all runs. Leave out what restricts them, or choose by a rule.",
            *given,
        )
    choice = choice_among(candidates)
    advice = advice_on(choice)
    pick = taken_pick(choice, advice)
    rated_by = choice.default if pick.rule == BASELINE else pick.rule
    return OneRun(pick, rated_by, choice.baseline, advice.sentence)


def _with_other_advice(candidates: Candidates, found: OneRun) -> OneRun:
    """Add the advice where it takes other clusters."""
    advised = _advised(candidates, {})
    if ari_between(found.pick, advised.pick) == 1:
        return found
    return OneRun(found.pick, found.rated_by, found.baseline, advised.advice)


def _ensemble(candidates: Candidates, among: BoolArray) -> Pick:
    found = best_ensemble(candidates, among)
    if isinstance(found, str):
        raise ArgumentError(f"There is no ensemble of {candidates.config}: {found}.", "by")
    return found


def _among(candidates: Candidates, where: dict[str, Any], allowed: xr.Dataset) -> BoolArray:
    return np.array([_is_among(each, where, allowed) for each in candidates.all])


def _is_among(candidate: Candidate, where: dict[str, Any], allowed: xr.Dataset) -> bool:
    """Return whether a candidate has the normalisation and the exponents that were asked for."""
    return all(
        wanted is None or getattr(candidate, dim) in allowed[dim].values
        for dim, wanted in where.items()
    )


def _restrictions(where: dict[str, Any]) -> list[str]:
    return [name for name, wanted in where.items() if wanted is not None]
