"""What the user should know of a pick: ties, the edge of the grid, clusters that are missing."""

from collections.abc import Iterator

import numpy as np

from pipeline.core.types import Float64Array, IntArray
from workflows.choice.candidates import Candidate, Candidates
from workflows.choice.picks import Pick, ari_between
from workflows.terminal import counted


def score_flags(candidates: Candidates, place: int, scores: Float64Array) -> Iterator[str]:
    """Yield what follows from the scores: how many runs tie, and whether all are on the edge.

    Parameters
    ----------
    candidates : Candidates
        What competes.
    place : int
        The place of the pick.
    scores : ndarray
        The scores of all candidates; NaN for those that may not be picked.
    """
    tied = np.flatnonzero(np.isclose(scores, scores[place], rtol=1e-9, atol=1e-12))
    if _is_on_edge(candidates.all[place], candidates) and not _any_inside(tied, candidates):
        yield "on the edge of the grid"
    if len(tied) > 1:
        yield f"{len(tied)} runs tie"


def pick_flags(pick: Pick, k: int, baseline: Pick | None) -> Iterator[str]:
    """Yield what follows from the labels: fewer clusters than `k`, the same as the baseline."""
    if pick.clusters < k:
        yield f"{counted(pick.clusters, 'cluster')}, not {k}"
    if baseline is not None and ari_between(baseline, pick) == 1:
        yield "equals the baseline"


def _any_inside(places: IntArray, candidates: Candidates) -> bool:
    runs = (candidates.all[place] for place in places)
    return any(run.p1 is not None and not _is_on_edge(run, candidates) for run in runs)


def _is_on_edge(candidate: Candidate, candidates: Candidates) -> bool:
    grids = ((candidate.p1, candidates.spec.p1), (candidate.p2, candidates.spec.p2))
    return any(p in (min(grid), max(grid)) for p, grid in grids if p is not None and len(grid) > 2)
