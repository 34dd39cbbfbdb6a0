"""One sentence of advice on the picks of all rules, which says how sure it is."""

from dataclasses import dataclass
from itertools import combinations

from pipeline.core import adjusted_rand_index
from workflows.choice.choosing import RULES
from workflows.choice.picks import BASELINE, BY_LABELS, DatasetChoice, Pick

#: Two picks agree from this ARI on.
AGREE = 0.8


@dataclass(frozen=True)
class Advice:
    """What to take: a pick by its rule, and the reason as a sentence."""

    take: str
    sentence: str


def advice_on(choice: DatasetChoice) -> Advice:
    """Return what to take, and how sure that is.

    Parameters
    ----------
    choice : DatasetChoice
        The picks for a data set, as `choose` returns them.

    Returns
    -------
    Advice
        The user's labels come first. Otherwise the pick of the default rule is taken only if
        another rule, which does not take k-means++ itself, picks nearly the same clusters.

    Examples
    --------
    >>> import numpy as np
    >>> from workflows.choice import Candidate
    >>> run, kmeans = Candidate("rescaled_imwk", "z-score", 1.4, 2.6), Candidate("kmeans", "range")
    >>> ours, theirs = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
    >>> picks = [Pick(rule, run, ours, 0.5, None) for rule in RULES]
    >>> baseline = Pick("k-means++", kmeans, theirs, 0.4, None)
    >>> choice = DatasetChoice("mine", 0, 2, "info", tuple(picks), baseline, 0.1)
    >>> print(advice_on(choice).sentence)
    info and central agree (1.00): take z-score, p1 = 1.4, p2 = 2.6.
    """
    labelled = choice.by(BY_LABELS)
    if labelled is not None:
        sure = f"ARI {labelled.score:.2f} on the rows that you labelled"
        return Advice(BY_LABELS, f"By your labels, take {labelled.what} ({sure}).")
    main = next(pick for pick in choice.picks if pick.rule == choice.default)
    if choice.baseline is not None and _between(main, choice.baseline) == 1:
        return _kmeans(choice.baseline, f"{main.rule} finds nothing better than k-means++")
    friend = _friend(choice, main)
    if friend is not None:
        agree = f"{main.rule} and {friend.rule} agree ({_between(main, friend):.2f})"
        return Advice(main.rule, f"{agree}: take {main.what}.{_same_as_kmeans(choice, main)}")
    return _without_agreement(choice, main)


def _without_agreement(choice: DatasetChoice, main: Pick) -> Advice:
    if choice.baseline is None:
        return Advice(
            main.rule,
            f"The rules disagree, so no choice is sure, and the sweep has no k-means++ to compare "
            f"with. {main.rule} picks {main.what}; label some rows to check it.",
        )
    near = _between(main, choice.baseline)
    if near >= AGREE:
        reason = f"{main.rule} and k-means++ agree ({near:.2f}), others not"
    else:
        reason = "The rules disagree; k-means++ is as good as anything here; label some rows"
    return _kmeans(choice.baseline, reason, _rivals(choice, main))


def _kmeans(baseline: Pick, reason: str, more: str = "") -> Advice:
    return Advice(BASELINE, f"{reason}: take {baseline.what}.{more}")


def _rivals(choice: DatasetChoice, main: Pick) -> str:
    """Return that two other rules agree on other clusters, so that only labels can decide."""
    others = [pick for pick in choice.picks if pick.rule in RULES and pick is not main]
    for one, other in combinations(others, 2):
        if _is_friend(one, other) and _is_friend(other, one):
            agree = (
                f"{one.rule} and {other.rule} agree on other clusters ({_between(one, other):.2f})"
            )
            return f" But {agree}, {one.what}: label some rows."
    return ""


def _friend(choice: DatasetChoice, main: Pick) -> Pick | None:
    """Return the first rule that agrees with the default one without taking k-means++ itself."""
    rules = (pick for pick in choice.picks if pick.rule in RULES and pick is not main)
    return next((pick for pick in rules if _is_friend(main, pick)), None)


def _is_friend(main: Pick, other: Pick) -> bool:
    is_kmeans = other.candidate is not None and other.candidate.part == "kmeans"
    return not is_kmeans and _between(main, other) >= AGREE


def _same_as_kmeans(choice: DatasetChoice, main: Pick) -> str:
    near = 0.0 if choice.baseline is None else _between(main, choice.baseline)
    return f" k-means++ finds nearly the same clusters ({near:.2f})." if near >= AGREE else ""


def _between(one: Pick, other: Pick) -> float:
    return float(adjusted_rand_index(one.labels, other.labels))
