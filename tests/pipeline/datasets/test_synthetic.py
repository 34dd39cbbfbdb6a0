import hashlib
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from pipeline.datasets import CONFIGURATIONS, synthetic_dataset
from pipeline.datasets.generator import _cluster_sizes
from tests.shared_data import read_rows

SEED = 2020


def test_configurations_are_those_of_the_paper_table(shared: Path) -> None:
    rows = read_rows(shared / "paper" / "synthetic_configurations.csv")
    assert list(CONFIGURATIONS) == [row["config"] for row in rows]
    for row in rows:
        configuration = CONFIGURATIONS[row["config"]]
        assert configuration.features == int(row["original_features"])
        assert configuration.total_features == int(row["total_features"])
        assert configuration.clusters == int(row["clusters"])


@pytest.mark.parametrize("config", CONFIGURATIONS)
def test_fifty_data_sets_have_the_sizes_of_the_paper_table(config: str) -> None:
    configuration = CONFIGURATIONS[config]
    for index in range(50):
        data = synthetic_dataset(config, index, SEED)
        assert data.X.shape == (1000, configuration.total_features)
        sizes = np.bincount(data.y, minlength=configuration.clusters)
        assert len(sizes) == configuration.clusters
        assert sizes.min() >= 20
        assert sizes.sum() == 1000


@pytest.mark.parametrize("config", [c for c in CONFIGURATIONS if CONFIGURATIONS[c].noise != "none"])
def test_noisy_versions_share_their_base_and_hold_the_papers_share_of_noise(config: str) -> None:
    configuration = CONFIGURATIONS[config]
    for index in range(50):
        base = synthetic_dataset(configuration.base.name, index, SEED)
        noisy = synthetic_dataset(config, index, SEED)
        np.testing.assert_array_equal(noisy.y, base.y)
        if configuration.noise == "within-cluster":
            assert noisy_segments(base.X, noisy.X, base.y) == configuration.features * (
                configuration.clusters / 2
            )
        else:
            np.testing.assert_array_equal(noisy.X[:, : configuration.features], base.X)
            assert configuration.noise_features / configuration.total_features == 1 / 3


def noisy_segments(base: np.ndarray, noisy: np.ndarray, y: np.ndarray) -> int:
    """Count the (cluster, feature) segments that differ; each must differ in full or not at all."""
    changed = [(base[y == cluster] != noisy[y == cluster]).mean(axis=0) for cluster in np.unique(y)]
    assert set(np.unique(changed)) <= {0.0, 1.0}
    return int(np.sum(changed))


def test_uniform_noise_features_cover_the_range_of_the_whole_data_set() -> None:
    X = synthetic_dataset("1000x6-3", 0, SEED).X
    noise = synthetic_dataset("1000x6-3 +3NF", 0, SEED).X[:, 6:]
    assert kstest(noise.ravel(), "uniform", (X.min(), np.ptp(X))).pvalue > 0.001


def test_normal_noise_features_are_standard_normal() -> None:
    noise = synthetic_dataset("1000x20-10 +10NNF", 0, SEED).X[:, 20:]
    assert kstest(noise.ravel(), "norm").pvalue > 0.001


def test_noise_within_clusters_is_uniform_over_its_own_feature() -> None:
    base, noisy = (
        synthetic_dataset("1000x6-3", 3, SEED).X,
        synthetic_dataset("1000x6-3 WCN", 3, SEED).X,
    )
    for feature in range(6):
        values = noisy[:, feature][noisy[:, feature] != base[:, feature]]
        low, width = base[:, feature].min(), np.ptp(base[:, feature])
        assert kstest(values, "uniform", (low, width)).pvalue > 0.001


def test_every_composition_is_equally_likely() -> None:
    # 8 entities in 3 parts of at least 2: the 2 spare ones can be dealt in 6 ways
    rng = np.random.default_rng(SEED)
    drawn = [tuple(_cluster_sizes(8, 3, 2, rng).tolist()) for _ in range(6000)]
    ways = sorted(set(drawn))
    assert ways == [(2, 2, 4), (2, 3, 3), (2, 4, 2), (3, 2, 3), (3, 3, 2), (4, 2, 2)]
    assert chisquare([drawn.count(way) for way in ways]).pvalue > 0.001


def test_a_cluster_has_one_variance_between_a_half_and_one_and_a_half() -> None:
    variances = []
    for index in range(50):
        data = synthetic_dataset("1000x6-3", index, SEED)
        for cluster in range(3):
            members = data.X[data.y == cluster]
            if len(members) > 200:
                within = members.var(axis=0, ddof=1)
                assert within.max() / within.min() < 2
                variances.append(within.mean())
    assert 0.4 < min(variances) < 0.65
    assert 1.35 < max(variances) < 1.6


def test_centroids_are_standard_normal() -> None:
    means = []
    for index in range(50):
        data = synthetic_dataset("1000x6-3", index, SEED)
        groups = [data.X[data.y == cluster] for cluster in range(3)]
        means += [group.mean(axis=0) for group in groups if len(group) > 200]
    assert kstest(np.ravel(means), "norm").pvalue > 0.001


def test_data_sets_are_a_pure_function_of_seed_configuration_and_index() -> None:
    first = synthetic_dataset("1000x12-6 WCN", 4, SEED)
    np.testing.assert_array_equal(first.X, synthetic_dataset("1000x12-6 WCN", 4, SEED).X)
    for other in (("1000x12-6 WCN", 5, SEED), ("1000x12-6 WCN", 4, SEED + 1)):
        assert not np.array_equal(first.X, synthetic_dataset(*other).X)


#: Pinned from our own output before users could choose their own numbers: the first 16 digits of
#: the SHA-256 of data sets 0, 1 and 49 of every configuration, and of the hashes of all 50.
SOME_HASHES = {
    "1000x6-3": ("a4558f5a0a773157", "5ec696d2f3576a00", "2de643415810d221"),
    "1000x12-6": ("84305b6c02b19eb1", "456fe4aba8ccdbc8", "60624a6656f0846c"),
    "1000x20-10": ("eaf896ef430e9ad2", "5012c85f6cec953e", "d1b82dbc1e6eb518"),
    "1000x6-3 +3NF": ("52b8785bec0a7949", "306d159dd2cb168f", "0994ba1b39948eb8"),
    "1000x12-6 +6NF": ("a1222d01bb0db54e", "ae223f8362148364", "469384bb214b6035"),
    "1000x20-10 +10NF": ("0fe223636b417961", "9ccbe467e85f471a", "caa22a31e551432a"),
    "1000x6-3 +3NNF": ("10581b684d7288c6", "0b0cf466672dc774", "06b5a7d8dd550a1c"),
    "1000x12-6 +6NNF": ("3144aab10d0324e3", "eca86c08cf8990d8", "3cb9e12c54054660"),
    "1000x20-10 +10NNF": ("8aab829e2bb1716b", "2582d4a02afa93a5", "086639fab2abe141"),
    "1000x6-3 WCN": ("a2434b6fbd80d8a3", "e350fb9bcbff7f5f", "7d7bb2cbab563055"),
    "1000x12-6 WCN": ("dd14fd4bcd6cc016", "1a1ea6c06220e007", "c48e55383607da05"),
    "1000x20-10 WCN": ("9c9377d2eb9e0dbe", "b5cf8ca259a710b0", "7970b5ea5e16f0bd"),
}
ALL_HASHES = {
    "1000x6-3": "436b5e2dc8c02ddb",
    "1000x12-6": "29ef407df093eee5",
    "1000x20-10": "f14a5278cb7551cf",
    "1000x6-3 +3NF": "4ece289be78b9a78",
    "1000x12-6 +6NF": "3537d7013b74ecd1",
    "1000x20-10 +10NF": "59496698032e86dd",
    "1000x6-3 +3NNF": "3763e805d8e3c2bd",
    "1000x12-6 +6NNF": "2366fccf2f808f71",
    "1000x20-10 +10NNF": "b7bb716535a2bb65",
    "1000x6-3 WCN": "183c6eedf52b1881",
    "1000x12-6 WCN": "b4c121c99a6055c6",
    "1000x20-10 WCN": "c53485e311703af2",
}


def sha256(config: str, index: int) -> str:
    data = synthetic_dataset(config, index, SEED)
    return hashlib.sha256(data.X.tobytes() + data.y.tobytes()).hexdigest()


@pytest.mark.parametrize("config", CONFIGURATIONS)
def test_regression_pin_of_some_data_sets_of_the_paper(config: str) -> None:
    """Cubes that a later version extends need the same data, bit for bit."""
    found = tuple(sha256(config, index)[:16] for index in (0, 1, 49))
    assert found == SOME_HASHES[config]


@pytest.mark.slow
@pytest.mark.parametrize("config", CONFIGURATIONS)
def test_regression_pin_of_all_data_sets_of_the_paper(config: str) -> None:
    every = "".join(sha256(config, index) for index in range(50))
    assert hashlib.sha256(every.encode()).hexdigest()[:16] == ALL_HASHES[config]
