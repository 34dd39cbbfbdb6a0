"""The paper's synthetic data: 12 configurations. Data sets are generated from the seed."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator, default_rng

from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_choice, as_whole_number
from pipeline.seeds import seed_sequence

ENTITIES = 1000
SMALLEST_CLUSTER = 20
LEAST_VARIANCE, MOST_VARIANCE = 0.5, 1.5

Noise = Literal["none", "NF", "NNF", "WCN"]


@dataclass(frozen=True)
class Configuration:
    """One row of the paper table of synthetic configurations.

    Attributes
    ----------
    features, clusters : int
        Numbers of features and clusters of the base data set, before noise is added.
    noise : {"none", "NF", "NNF", "WCN"}
        No noise, uniform noise features, normal noise features, or noise within clusters.
    """

    features: int
    clusters: int
    noise: Noise = "none"

    @property
    def base(self) -> "Configuration":
        """The same configuration without noise."""
        return Configuration(self.features, self.clusters)

    @property
    def noise_features(self) -> int:
        """Number of noise features that are appended."""
        return -(-self.features // 2) if self.noise in ("NF", "NNF") else 0

    @property
    def total_features(self) -> int:
        """Number of columns of the data set."""
        return self.features + self.noise_features

    @property
    def name(self) -> str:
        """The paper's name, such as ``1000x6-3 +3NF``."""
        base = f"{ENTITIES}x{self.features}-{self.clusters}"
        if self.noise == "none":
            return base
        return (
            f"{base} WCN" if self.noise == "WCN" else f"{base} +{self.noise_features}{self.noise}"
        )


_SHAPES = ((6, 3), (12, 6), (20, 10))
_NOISES: tuple[Noise, ...] = ("none", "NF", "NNF", "WCN")

#: The paper's 12 configurations by name, in the order of the paper tables.
CONFIGURATIONS: dict[str, Configuration] = {
    configuration.name: configuration
    for noise in _NOISES
    for configuration in (Configuration(m, k, noise) for m, k in _SHAPES)
}


@dataclass(frozen=True, eq=False)
class Dataset:
    """Entities in the rows of `X`, and the true class of each in `y`."""

    X: FloatArray
    y: IntArray


def synthetic_dataset(config: str, index: int, seed: int) -> Dataset:
    """Generate data set `index` of a configuration.

    Parameters
    ----------
    config : str
        A key of `CONFIGURATIONS`, which are the paper's names.
    index : int
        Index of the data set within the configuration, from 0.
    seed : int
        The sweep's seed.

    Returns
    -------
    Dataset
        Equal arguments give equal data. The noisy versions of a configuration share the entities
        and classes of its base.

    Examples
    --------
    >>> noisy = synthetic_dataset("1000x6-3 +3NF", index=0, seed=2020)
    >>> noisy.X.shape, sorted(set(noisy.y.tolist()))
    ((1000, 9), [0, 1, 2])
    >>> bool((noisy.X[:, :6] == synthetic_dataset("1000x6-3", 0, 2020).X).all())
    True
    """
    configuration = CONFIGURATIONS[as_choice(config, "configuration", CONFIGURATIONS)]
    where = (configuration.base.name, as_whole_number(index, "index", 0))
    data = _base(configuration, default_rng(seed_sequence(seed, "synthetic", *where)))
    noise = default_rng(seed_sequence(seed, "synthetic", *where, configuration.noise))
    return Dataset(_add_noise(data, configuration, noise), data.y)


def _base(configuration: Configuration, rng: Generator) -> Dataset:
    m, k = configuration.features, configuration.clusters
    y = np.repeat(np.arange(k), _cluster_sizes(k, rng))
    centroids = rng.standard_normal((k, m))
    deviations = np.sqrt(rng.uniform(LEAST_VARIANCE, MOST_VARIANCE, size=k))
    X = centroids[y] + deviations[y, np.newaxis] * rng.standard_normal((ENTITIES, m))
    return Dataset(X, y)


def _cluster_sizes(k: int, rng: Generator) -> IntArray:
    """Draw sizes uniformly from all compositions of the entities into parts of at least 20.

    Arrange the spare entities and k - 1 bars in a row and cut at the bars: this gives every
    composition exactly once. Sizes proportional to uniform random numbers would be too even, and
    ARIs about 0.1 too high.
    """
    slots = ENTITIES - SMALLEST_CLUSTER * k + k - 1
    bars = np.sort(rng.choice(slots, size=k - 1, replace=False))
    return np.diff(bars, prepend=-1, append=slots) - 1 + SMALLEST_CLUSTER


def _add_noise(data: Dataset, configuration: Configuration, rng: Generator) -> FloatArray:
    shape = (ENTITIES, configuration.noise_features)
    match configuration.noise:
        case "NF":
            return np.hstack([data.X, rng.uniform(data.X.min(), data.X.max(), size=shape)])
        case "NNF":
            return np.hstack([data.X, rng.standard_normal(shape)])
        case "WCN":
            return _with_noisy_segments(data, configuration, rng)
        case "none":
            return data.X


def _with_noisy_segments(data: Dataset, configuration: Configuration, rng: Generator) -> FloatArray:
    """Replace half of the (feature, cluster) segments by uniform noise over the feature's range."""
    m, k = configuration.features, configuration.clusters
    segments = rng.choice(m * k, size=m * k // 2, replace=False)
    noisy = np.zeros((k, m), dtype=np.bool_)
    noisy.flat[segments] = True
    noise = rng.uniform(data.X.min(axis=0), data.X.max(axis=0), size=data.X.shape)
    return np.where(noisy[data.y], noise, data.X)
