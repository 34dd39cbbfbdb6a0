"""Which number of clusters rules prefer, and how sure the advice is."""

import pytest

from workflows.choice.cluster_counts import CountChoice

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
