"""Generated data in a spec: lists become configurations."""

from typing import Any

import pytest

from pipeline.datasets import Configuration
from pipeline.spec import SweepSpec
from pipeline.spec.diff import diff

MINE = {"n": 100, "m": 4, "k": 2, "count": 5}


def made(**keys: Any) -> SweepSpec:
    return SweepSpec(datasets={"generated": {"mine": MINE | keys}})


def test_without_lists_there_is_one_configuration() -> None:
    spec = made()
    assert spec.configs == ("mine",)
    assert (spec.dataset_count("mine"), spec.shape("mine")) == (5, (100, 4, 2))


def test_every_combination_of_listed_values_is_a_configuration() -> None:
    spec = made(k=[3, 2], noise="uniform", noise_share=[0.5, 0])
    assert spec.configs == (
        "mine k=2 noise_share=0",
        "mine k=2 noise_share=0.5",
        "mine k=3 noise_share=0",
        "mine k=3 noise_share=0.5",
    )
    found = spec.datasets.configurations["mine k=3 noise_share=0.5"]
    assert found == Configuration(100, 4, 3, "uniform", 0.5)
    assert spec.shape("mine k=3 noise_share=0.5") == (100, 6, 3)
    assert len(spec.tiles) == 4 * 5 * 4


def test_data_without_noise_have_no_share_and_are_not_repeated() -> None:
    spec = made(noise=["none", "normal"], noise_share=[0.25, 1])
    assert spec.configs == (
        "mine noise=none noise_share=0",
        "mine noise=normal noise_share=0.25",
        "mine noise=normal noise_share=1",
    )


@pytest.mark.parametrize("noise", ["uniform", "normal", "within-cluster"])
def test_the_default_share_is_that_of_the_paper(noise: str) -> None:
    assert made(noise=noise).datasets.configurations["mine"].noise_share == 0.5


def test_the_order_of_values_does_not_matter() -> None:
    assert made(k=[2, 3]) == made(k=[3, 2])
    assert made(k=[2, 3]).fingerprint == made(k=[3, 2]).fingerprint


@pytest.mark.parametrize(
    "changed", [{"n": 101}, {"count": 6}, {"spread": [1, 2]}, {"least": 5}, {"k": [2]}]
)
def test_what_changes_the_data_changes_the_fingerprint(changed: dict[str, Any]) -> None:
    (key,) = changed
    assert made(**changed).fingerprint != made().fingerprint
    assert [each.key for each in diff(made(), made(**changed))] == [
        f"datasets.generated.mine.{key}"
    ]


def test_generated_data_go_with_others() -> None:
    paper = {"synthetic": {"configs": ["1000x6-3"], "count": 2}}
    spec = SweepSpec(datasets=paper | {"generated": {"b": MINE, "a": MINE | {"count": 1}}})
    assert spec.configs == ("1000x6-3", "a", "b")
    assert [spec.dataset_count(config) for config in spec.configs] == [2, 1, 5]
    assert (spec.scores, spec.keep) == ((), ())  # as for the paper's synthetic data
