"""The advice on picks: what is taken, and what the sentence admits."""

import numpy as np
import pytest

from pipeline.core.types import IntArray
from workflows.choice import Candidate, DatasetChoice, Pick
from workflows.choice.advice import advice_on

RUN = Candidate("rescaled_imwk", "z-score", 1.4, 2.6)
KMEANS = Candidate("kmeans", "range")
#: Labellings of 40 rows: `NEAR` differs from `HALVES` in one row, `PARITY` is independent of it.
HALVES = np.repeat([0, 1], 20)
NEAR = np.concatenate([[1], HALVES[1:]])
PARITY = np.arange(40) % 2
QUARTERS = np.repeat([0, 1, 0, 1], 10)


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
        ((HALVES, PARITY, QUARTERS, NEAR), "k-means++", "info and k-means++ agree (0.90)"),
        ((HALVES, PARITY, PARITY, QUARTERS), "k-means++", "The rules disagree; k-means++ is as"),
        ((HALVES, PARITY, PARITY, NEAR), "k-means++", "But central and silhouette agree on other"),
        ((HALVES, NEAR, NEAR, 1 - HALVES), "k-means++", "nothing better than k-means++"),
        ((HALVES, PARITY, QUARTERS, None), "info", "no choice is sure"),
    ],
)
def test_advice_follows_from_agreement(
    picks: tuple[IntArray, IntArray, IntArray, IntArray | None], take: str, words: str
) -> None:
    advice = advice_on(choice(*picks))
    assert advice.take == take
    assert words in advice.sentence
