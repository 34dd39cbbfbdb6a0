"""Which number of clusters rules prefer, and how sure the advice is."""

import numpy as np
import pytest

from pipeline.spec import SweepSpec
from pipeline.spec.sources import TableFacts, facts_by_config
from tests.own_tables import small_table
from workflows.choice import Candidate, DatasetChoice, Pick
from workflows.choice.choosing import RULES
from workflows.choice.cluster_counts import CountChoice, choose_counts, counts_not_compared

COUNTS = (2, 3, 4)


def counted(info: int, silhouette: int, calinski_harabasz: int) -> CountChoice:
    """Return a choice in which each rule prefers a given number of clusters."""
    preferred = {
        "info": info,
        "silhouette": silhouette,
        "calinski-harabasz": calinski_harabasz,
    }
    scores = {
        rule: tuple(float(count == best) for count in COUNTS) for rule, best in preferred.items()
    }
    return CountChoice(tuple(f"mine k={count}" for count in COUNTS), COUNTS, scores, "info")


@pytest.mark.parametrize(
    ("preferred", "sentence"),
    [
        ((3, 3, 3), "By info, take k = 3. All rules prefer it."),
        ((3, 3, 2), "By info, take k = 3. info and silhouette prefer it, others not."),
        ((3, 2, 2), "By info, take k = 3. No other rule prefers it, so it is not sure."),
        ((2, 2, 2), "By info, take k = 2. All rules prefer it."),  # there is no smaller k
        ((4, 4, 4), "By info, take k = 4. All rules prefer it. No larger k was tried."),
    ],
)
def test_the_advice_says_how_sure_it_is(preferred: tuple[int, int, int], sentence: str) -> None:
    found = counted(*preferred)
    assert tuple(found.preferred.values()) == preferred
    assert found.sentence == sentence


def test_of_equal_scores_the_least_number_is_preferred() -> None:
    scores = {"info": (0.5, 0.7, 0.7)}
    assert CountChoice(("a", "b", "c"), COUNTS, scores, "info").preferred == {"info": 3}


def spec_of(*names: tuple[str, int, int | list[int]]) -> SweepSpec:
    """Return a spec of tables by name, number of replicates and k; all have the same first one."""
    matrices: dict[str, TableFacts] = {}
    for name, replicates, k in names:
        first, *more = (small_table(seed, labelled=False) for seed in range(replicates))
        matrices |= facts_by_config(name, first, k, more)
    return SweepSpec(datasets={"matrices": matrices})


def choices_of(spec: SweepSpec) -> list[DatasetChoice]:
    """Return a choice for each data set; scores grow with the number of the data set and with k."""
    labels, run = np.arange(40) % 2, Candidate("imwk", "range", 2.0)
    return [
        DatasetChoice(
            config,
            dataset,
            spec.shape(config)[2],
            "info",
            tuple(Pick(rule, run, labels, dataset + spec.shape(config)[2], None) for rule in RULES),
            None,
            None,
        )
        for config in spec.configs
        for dataset in range(spec.dataset_count(config))
    ]


def test_replicates_are_compared_one_by_one() -> None:
    spec = spec_of(("mine", 2, [2, 3]))
    found = choose_counts(spec, choices_of(spec))
    assert [(each.dataset, each.configs, each.counts) for each in found] == [
        (0, ("mine k=2", "mine k=3"), (2, 3)),
        (1, ("mine k=2", "mine k=3"), (2, 3)),
    ]
    assert [each.scores["info"] for each in found] == [(2, 3), (3, 4)]
    assert counts_not_compared(spec, choices_of(spec)) == []


def test_the_same_table_under_two_names_is_compared_within_each() -> None:
    spec = spec_of(("mine", 1, [4, 2]), ("other", 1, [2, 3]))
    found = choose_counts(spec, choices_of(spec))
    assert {each.configs for each in found} == {
        ("mine k=2", "mine k=4"),
        ("other k=2", "other k=3"),
    }


def test_names_that_differ_in_k_are_compared() -> None:
    spec = spec_of(("small", 1, 2), ("large", 1, 3))
    (found,) = choose_counts(spec, choices_of(spec))
    assert (found.configs, found.counts) == (("small", "large"), (2, 3))


def test_what_cannot_be_compared_is_named() -> None:
    spec = spec_of(("a", 1, 2), ("b", 1, 2), ("c", 1, 3))
    choices = choices_of(spec)
    assert choose_counts(spec, choices) == []
    (line,) = counts_not_compared(spec, choices)
    assert line.startswith("Numbers of clusters of a, b, c are not compared: ")
    single = spec_of(("a", 1, 2))
    assert counts_not_compared(single, choices_of(single)) == []
