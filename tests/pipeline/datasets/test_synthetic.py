from pathlib import Path

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

from pipeline.datasets import CONFIGURATIONS, synthetic_dataset
from pipeline.datasets.synthetic import _cluster_sizes
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
        if configuration.noise == "WCN":
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


def test_every_composition_is_equally_likely(monkeypatch: pytest.MonkeyPatch) -> None:
    # 8 entities in 3 parts of at least 2: the 2 spare ones can be dealt in 6 ways
    monkeypatch.setattr("pipeline.datasets.synthetic.ENTITIES", 8)
    monkeypatch.setattr("pipeline.datasets.synthetic.SMALLEST_CLUSTER", 2)
    rng = np.random.default_rng(SEED)
    drawn = [tuple(_cluster_sizes(3, rng).tolist()) for _ in range(6000)]
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


def test_regression_pin_of_one_value() -> None:
    """Pinned from our own output: cubes that a later version extends need the same data."""
    assert synthetic_dataset("1000x6-3", 0, SEED).X[0, 0] == pytest.approx(
        0.4255525817959609, rel=1e-12
    )
