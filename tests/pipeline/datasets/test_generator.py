"""The generator with a user's own numbers."""

from fractions import Fraction
from math import ceil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import CONFIGURATIONS, Configuration, generate_dataset, synthetic_dataset
from pipeline.datasets.generator import NOISES, Noise

SEED = 2020


@st.composite
def configurations(draw: st.DrawFn) -> Configuration:
    k, least = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    n = k * least + draw(st.integers(0, 60))
    noise = draw(st.sampled_from(list(NOISES)))
    share = draw(st.decimals(0, 1, places=2).map(float))
    low = draw(st.floats(0.01, 4))
    spread = (low, low + draw(st.floats(0, 4)))
    return Configuration(n, draw(st.integers(1, 8)), k, noise, share, spread, least)


@given(configurations(), st.integers(0, 9))
def test_data_have_the_numbers_that_were_asked_for(asked: Configuration, index: int) -> None:
    data, base = (generate_dataset(each, index, SEED) for each in (asked, asked.base))
    assert data.X.shape == (asked.entities, asked.features + asked.noise_features)
    assert np.isfinite(data.X).all()
    sizes = np.bincount(data.y, minlength=asked.clusters)
    assert len(sizes) == asked.clusters
    assert sizes.min() >= asked.least
    np.testing.assert_array_equal(data.y, base.y)
    share = Fraction(str(asked.noise_share))
    if asked.noise in ("uniform", "normal"):
        assert data.X.shape[1] - asked.features == ceil(share * asked.features)
        np.testing.assert_array_equal(data.X[:, : asked.features], base.X)
    if asked.noise == "within-cluster":
        changed = {(f, data.y[i]) for i, f in np.argwhere(data.X != base.X)}
        assert len(changed) == ceil(share * asked.features * asked.clusters)


def test_shares_are_decimal_numbers() -> None:
    # as floats, 0.07 of 100 are 7.000000000000001
    assert Configuration(500, 100, 2, "uniform", 0.07).noise_features == 7


@pytest.mark.parametrize("config", CONFIGURATIONS)
def test_the_papers_numbers_give_the_papers_data(config: str) -> None:
    paper = CONFIGURATIONS[config]
    shape = (paper.entities, paper.features, paper.clusters)
    own = Configuration(*shape, paper.noise, 0.0 if paper.noise == "none" else 0.5)
    np.testing.assert_array_equal(
        generate_dataset(own, 7, SEED).X, synthetic_dataset(config, 7, SEED).X
    )


@pytest.mark.parametrize("noise", [noise for noise in NOISES if noise != "none"])
def test_shares_have_random_streams_of_their_own(noise: Noise) -> None:
    base = generate_dataset(Configuration(200, 6, 3), 0, SEED).X
    quarter, half = (
        np.setdiff1d(generate_dataset(Configuration(200, 6, 3, noise, share), 0, SEED).X, base)
        for share in (0.25, 0.5)
    )
    assert not np.intersect1d(quarter, half).size


def test_a_share_may_be_any_kind_of_number() -> None:
    shares = (1, 1.0, np.float64(1))
    one, *others = (
        generate_dataset(Configuration(100, 4, 2, "normal", share), 0, SEED).X for share in shares
    )
    for other in others:
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("configuration", "message"),
    [
        (Configuration(100, 4, 6), "6 clusters of at least 20 entities need n of at least 120"),
        (Configuration(100, 4, 2, "pink", 0.5), "Unknown kind of noise 'pink'"),  # type: ignore[arg-type]
        (Configuration(100, 4, 2, "within-cluster", 1.5), "noise_share of at most 1"),
        (Configuration(1_000_000, 9_000, 2), "are too many"),
    ],
)
def test_data_that_cannot_be_generated_are_refused(
    configuration: Configuration, message: str
) -> None:
    with pytest.raises(InvalidInputError, match=message):
        generate_dataset(configuration, 0, SEED)


def test_the_spread_is_the_variance_within_clusters() -> None:
    data = generate_dataset(Configuration(4000, 10, 2, spread=(9, 9), least=1000), 0, SEED)
    for cluster in range(2):
        assert data.X[data.y == cluster].var(axis=0).mean() == pytest.approx(9, rel=0.05)
