"""One sentence of advice on the picks of all rules, which says how sure it is."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from workflows.choice.choosing import BASELINE_PART, RULES
from workflows.choice.picks import BASELINE, BY_LABELS, DatasetChoice, Pick, ari_between
from workflows.terminal import counted

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
    advice = _advice(choice)
    more = "".join(f" {each}" for each in _reservations(choice, taken_pick(choice, advice)))
    return replace(advice, sentence=f"{advice.sentence}{more}")


def taken_pick(choice: DatasetChoice, advice: Advice) -> Pick:
    """Return the pick that an advice takes."""
    return next(pick for pick in choice.shown if pick.rule == advice.take)


def _advice(choice: DatasetChoice) -> Advice:
    labelled = choice.by(BY_LABELS)
    if labelled is not None:
        rows = counted(choice.labelled_rows, "row")
        sure = f"ARI {labelled.score:.2f} on the {rows} that you labelled"
        return Advice(BY_LABELS, f"By your labels, take {labelled.what} ({sure}).")
    main = next(pick for pick in choice.picks if pick.rule == choice.default)
    if choice.baseline is not None and ari_between(main, choice.baseline) == 1:
        return _same_as_kmeans(choice, choice.baseline, main)
    friend = _friend(choice, main)
    if friend is not None:
        agree = f"{main.rule} and {friend.rule} agree ({ari_between(main, friend):.2f})"
        return Advice(main.rule, f"{agree}: take {main.what}.{_near_kmeans(choice, main)}")
    return _without_agreement(choice, main)


def _reservations(choice: DatasetChoice, taken: Pick) -> Iterator[str]:
    """Yield what speaks against the pick that is taken."""
    if taken.clusters < choice.k:
        yield f"It has {counted(taken.clusters, 'cluster')}, not {choice.k}."
    scores = choice.info_of_ensemble
    if scores is not None and scores[0] > scores[1]:
        yield "The consensus of runs has a higher info: see --by ensemble."


def _same_as_kmeans(choice: DatasetChoice, baseline: Pick, main: Pick) -> Advice:
    if _far_from(choice, baseline):
        return _kmeans(baseline, f"{main.rule} finds nothing better than k-means++")
    return _all_agree(choice, baseline)


def _all_agree(choice: DatasetChoice, baseline: Pick) -> Advice:
    return _kmeans(baseline, f"All rules agree with k-means++ ({_least(_rules(choice), baseline)})")


def _without_agreement(choice: DatasetChoice, main: Pick) -> Advice:
    if choice.baseline is None:
        return Advice(
            main.rule,
            f"The rules disagree, so no choice is sure, and the sweep has no k-means++ to compare "
            f"with. {main.rule} picks {main.what}; label some rows to check it.",
        )
    rivals = _rivals(choice, choice.baseline)
    if _agree(main, choice.baseline):
        return _near_baseline(choice, choice.baseline, rivals)
    reason = (
        "The rules disagree; nothing here is shown to be better than k-means++; label some rows"
    )
    return _kmeans(choice.baseline, reason, rivals)


def _near_baseline(choice: DatasetChoice, baseline: Pick, rivals: str) -> Advice:
    """Take k-means++, because the default rule and perhaps others pick nearly the same."""
    far = _far_from(choice, baseline)
    if not far:
        return _all_agree(choice, baseline)
    near = [pick for pick in _rules(choice) if pick not in far]
    verb = "agrees" if len(near) == 1 else "agree"
    agree = f"{_listed(near)} {verb} with k-means++ ({_least(near, baseline)})"
    reason = f"{agree}, {_listed(far)} {'does' if len(far) == 1 else 'do'} not"
    return _kmeans(baseline, reason, f"{rivals} Label some rows." if rivals else "")


def _kmeans(baseline: Pick, reason: str, more: str = "") -> Advice:
    return Advice(BASELINE, f"{reason}: take {baseline.what}.{more}")


def _rivals(choice: DatasetChoice, baseline: Pick) -> str:
    """Return that some rules agree on clusters that are not those of the baseline."""
    far = _far_from(choice, baseline)
    for one in far:
        group = [one, *(other for other in far if other is not one and _agree(one, other))]
        if len(group) > 1:
            sure = _least(group[1:], one)
            return f" But {_listed(group)} agree on other clusters ({sure}), {one.what}."
    return ""


def _agree(one: Pick, other: Pick) -> bool:
    return ari_between(one, other) >= AGREE


def _friend(choice: DatasetChoice, main: Pick) -> Pick | None:
    """Return the first rule that agrees with the default one without taking k-means++ itself."""
    others = (pick for pick in _rules(choice) if pick is not main and not _is_kmeans(pick))
    return next((pick for pick in others if _agree(main, pick)), None)


def _is_kmeans(pick: Pick) -> bool:
    return pick.candidate is not None and pick.candidate.part == BASELINE_PART


def _near_kmeans(choice: DatasetChoice, main: Pick) -> str:
    near = 0.0 if choice.baseline is None else ari_between(main, choice.baseline)
    return f" k-means++ finds nearly the same clusters ({near:.2f})." if near >= AGREE else ""


def _rules(choice: DatasetChoice) -> list[Pick]:
    return [pick for pick in choice.picks if pick.rule in RULES]


def _far_from(choice: DatasetChoice, baseline: Pick) -> list[Pick]:
    return [pick for pick in _rules(choice) if not _agree(pick, baseline)]


def _least(picks: list[Pick], one: Pick) -> str:
    """Return the least agreement of some picks with another one."""
    values = [ari_between(pick, one) for pick in picks]
    least = f"{min(values):.2f}"
    return least if f"{max(values):.2f}" == least else f"{least} or more"


def _listed(picks: list[Pick]) -> str:
    *names, last = [pick.rule for pick in picks]
    return f"{', '.join(names)} and {last}" if names else last
