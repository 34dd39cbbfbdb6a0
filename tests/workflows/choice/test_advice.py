"""The advice on picks: what is taken, and what the sentence admits."""

from dataclasses import replace

import numpy as np
import pytest

from pipeline.core.types import IntArray
from workflows.choice import Candidate, DatasetChoice, Pick
from workflows.choice.advice import advice_on
from workflows.choice.shown import choice_lines

RUN = Candidate("rescaled_imwk", "z-score", 1.4, 2.6)
KMEANS = Candidate("kmeans", "range")
#: Labellings of 40 rows: `NEAR` differs from `HALVES` in one row, `PARITY` is independent of it.
HALVES = np.repeat([0, 1], 20)
NEAR = np.concatenate([[1], HALVES[1:]])
PARITY = np.arange(40) % 2
QUARTERS = np.repeat([0, 1, 0, 1], 10)
THIRDS = np.arange(40) // 5 % 2


def choice(
    info: IntArray, central: IntArray, silhouette: IntArray, kmeans: IntArray | None
) -> DatasetChoice:
    """Return picks with these labels; Calinski-Harabasz takes k-means++, as it mostly does."""
    labels = {"info": info, "central": central, "silhouette": silhouette}
    picks = [Pick(rule, RUN, some, 0.5, None) for rule, some in labels.items()]
    if kmeans is None:
        return DatasetChoice("mine", 0, 2, "info", tuple(picks), None, None)
    picks.append(Pick("calinski-harabasz", KMEANS, kmeans, 9.0, None))
    baseline = Pick("k-means++", KMEANS, kmeans, 0.4, None)
    return DatasetChoice("mine", 0, 2, "info", tuple(picks), baseline, 0.1)


@pytest.mark.parametrize(
    ("picks", "take", "words"),
    [
        ((HALVES, NEAR, PARITY, QUARTERS), "info", "info and central agree (0.90): take z-score"),
        ((HALVES, PARITY, NEAR, QUARTERS), "info", "info and silhouette agree (0.90)"),
        ((HALVES, HALVES, PARITY, NEAR), "info", "k-means++ finds nearly the same clusters (0.90)"),
        (
            (HALVES, PARITY, QUARTERS, NEAR),
            "k-means++",
            "info and calinski-harabasz agree with k-means++ (0.90 or more), central and "
            "silhouette do not: take k-means++ on range.",
        ),
        (
            (HALVES, PARITY, QUARTERS, THIRDS),
            "k-means++",
            "The rules disagree; nothing here is shown to be better than k-means++; label some "
            "rows: take k-means++ on range.",
        ),
        ((HALVES, PARITY, PARITY, NEAR), "k-means++", "But central and silhouette agree on other"),
        ((HALVES, PARITY, HALVES, 1 - HALVES), "k-means++", "info finds nothing better than"),
        ((HALVES, NEAR, NEAR, 1 - HALVES), "k-means++", "All rules agree with k-means++ (0.90 or"),
        ((HALVES, HALVES, HALVES, HALVES), "k-means++", "All rules agree with k-means++ (1.00): t"),
        ((HALVES, PARITY, QUARTERS, None), "info", "no choice is sure"),
    ],
)
def test_advice_follows_from_agreement(
    picks: tuple[IntArray, IntArray, IntArray, IntArray | None], take: str, words: str
) -> None:
    advice = advice_on(choice(*picks))
    assert advice.take == take
    assert words in advice.sentence


def test_two_rules_that_take_kmeans_of_another_normalisation_are_named() -> None:
    found = choice(HALVES, QUARTERS, THIRDS, PARITY)
    other = Candidate("kmeans", "z-score")
    swapped = [
        replace(pick, candidate=other, labels=THIRDS)
        if pick.rule in ("silhouette", "calinski-harabasz")
        else pick
        for pick in found.picks
    ]
    sentence = advice_on(replace(found, picks=tuple(swapped))).sentence
    assert sentence.startswith("The rules disagree; ")
    assert sentence.endswith(
        "But silhouette and calinski-harabasz agree on other clusters (1.00), k-means++ on z-score."
    )


def test_all_rules_that_agree_against_kmeans_are_named() -> None:
    found = choice(HALVES, PARITY, PARITY, NEAR)
    three = [replace(pick, labels=PARITY) if pick.rule != "info" else pick for pick in found.picks]
    sentence = advice_on(replace(found, picks=tuple(three))).sentence
    assert sentence == (
        "info agrees with k-means++ (0.90), central, silhouette and calinski-harabasz do not: take "
        "k-means++ on range. But central, silhouette and calinski-harabasz agree on other clusters "
        "(1.00), z-score, p1 = 1.4, p2 = 2.6. Label some rows."
    )


def test_other_rules_that_take_kmeans_are_counted_as_its_friends() -> None:
    found = choice(NEAR, NEAR, NEAR, HALVES)
    kmeans = [
        replace(pick, candidate=KMEANS) if pick.rule != "info" else pick for pick in found.picks
    ]
    advice = advice_on(replace(found, picks=tuple(kmeans)))
    assert advice.sentence == (
        "All rules agree with k-means++ (0.90 or more): take k-means++ on range."
    )


def test_missing_clusters_are_mentioned() -> None:
    found = replace(choice(HALVES, HALVES, PARITY, QUARTERS), k=3)
    assert advice_on(found).sentence.endswith("p2 = 2.6. It has 2 clusters, not 3.")
    one = np.zeros(40, dtype=np.int64)
    merged = choice(one, one, PARITY, QUARTERS)
    assert advice_on(merged).sentence.endswith("It has 1 cluster, not 2.")


@pytest.mark.parametrize(("score", "is_mentioned"), [(0.6, True), (0.5, False)])
def test_a_consensus_is_mentioned_if_its_info_is_higher(score: float, is_mentioned: bool) -> None:
    found = choice(HALVES, HALVES, PARITY, QUARTERS)
    ensemble = Pick("ensemble", None, NEAR, score, None)
    with_it = replace(found, picks=(*found.picks, ensemble))
    words = "The consensus of runs has a higher info: see --by ensemble."
    assert (words in advice_on(with_it).sentence) == is_mentioned
    (line,) = [line for line in choice_lines(with_it) if line.startswith("ensemble: ")]
    assert line.endswith(
        f"info, {'higher' if is_mentioned else 'not higher'} than that of the best run."
    )


def test_labels_are_taken_first_and_their_rows_are_counted() -> None:
    found = choice(HALVES, HALVES, PARITY, QUARTERS)
    labelled = Pick("by your labels", RUN, PARITY, 0.875, None)
    advice = advice_on(replace(found, picks=(*found.picks, labelled), labelled_rows=7))
    assert advice.take == "by your labels"
    assert "(ARI 0.88 on the 7 rows that you labelled)" in advice.sentence


def test_lines_tell_only_what_matters() -> None:
    same = choice(HALVES, PARITY, QUARTERS, 1 - HALVES)
    (only,) = choice_lines(same)  # one normalisation, and info picks the baseline
    assert only.startswith("Advice: ")
    several = replace(choice(HALVES, PARITY, QUARTERS, THIRDS), normalisations=2)
    strictly, gain, _ = choice_lines(several)
    assert strictly.startswith("Strictly, values of central, silhouette, calinski-harabasz ")
    assert gain.startswith("info gains 0.100 nats")
    reason = replace(same, no_ensemble="it needs 5 runs, and there are 3")
    assert next(iter(choice_lines(reason))) == "No ensemble: it needs 5 runs, and there are 3."
