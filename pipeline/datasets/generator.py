"""The generator of synthetic data: normal clusters, with noise of three kinds.

The paper's 12 configurations are instances, and users choose their own numbers. Every data set is
a function of the seed, its configuration and its index.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil
from typing import Literal

import numpy as np
from numpy.random import Generator, default_rng

from pipeline.core.errors import InvalidInputError
from pipeline.core.types import FloatArray, IntArray
from pipeline.core.validation import as_choice, as_whole_number
from pipeline.datasets.tables.columns import MOST_CELLS, MOST_COLUMNS
from pipeline.seeds import seed_sequence

Noise = Literal["none", "uniform", "normal", "within-cluster"]

#: The paper's abbreviation of each kind of noise.
NOISES: dict[Noise, str] = {
    "none": "none",
    "uniform": "NF",
    "normal": "NNF",
    "within-cluster": "WCN",
}
#: The paper's share of noise.
PAPER_SHARE = 0.5
#: The paper's least and largest variance of a cluster, and its least number of entities.
PAPER_SPREAD, PAPER_LEAST = (0.5, 1.5), 20


@dataclass(frozen=True)
class Configuration:
    """What the data sets of a configuration have in common.

    Attributes
    ----------
    entities, features, clusters : int
        Numbers of entities, features and clusters of the base data set, before noise is added.
    noise : {"none", "uniform", "normal", "within-cluster"}
        No noise, uniform noise features, normal noise features, or noise within clusters.
    noise_share : float
        The number of noise features, as a share of `features`; or the share of the pairs of a
        feature and a cluster whose values are replaced by noise. Rounded up to a whole number.
    spread : tuple of float
        The least and the largest variance of a cluster.
    least : int
        The least number of entities of a cluster.

    Examples
    --------
    >>> configuration = Configuration(1000, 6, 3, "uniform", 0.25)
    >>> configuration.noise_features, configuration.total_features, configuration.name
    (2, 8, '1000x6-3 +2NF')
    """

    entities: int
    features: int
    clusters: int
    noise: Noise = "none"
    noise_share: float = 0.0
    spread: tuple[float, float] = PAPER_SPREAD
    least: int = PAPER_LEAST

    @property
    def base(self) -> "Configuration":
        """The same configuration without noise."""
        return replace(self, noise="none", noise_share=0.0)

    @property
    def noise_features(self) -> int:
        """Number of noise features that are appended."""
        return self._share_of(self.features) if self.noise in ("uniform", "normal") else 0

    @property
    def noisy_segments(self) -> int:
        """Number of (feature, cluster) segments that are replaced by noise."""
        every = self.features * self.clusters
        return self._share_of(every) if self.noise == "within-cluster" else 0

    @property
    def total_features(self) -> int:
        """Number of columns of the data set."""
        return self.features + self.noise_features

    @property
    def name(self) -> str:
        """A name as the paper gives it, such as ``1000x6-3 +3NF``."""
        base = f"{self.entities}x{self.features}-{self.clusters}"
        if self.noise == "none":
            return base
        added = "" if self.noise == "within-cluster" else f"+{self.noise_features}"
        return f"{base} {added}{NOISES[self.noise]}"

    def _share_of(self, count: int) -> int:
        # As a decimal number: in floats 0.07 of 100 are a little more than 7.
        return ceil(Fraction(repr(float(self.noise_share))) * count)


def problem_of(configuration: Configuration) -> str | None:
    """Return why data of a configuration cannot be generated, or None.

    Examples
    --------
    >>> print(problem_of(Configuration(1000, 6, 80)))
    80 clusters of at least 20 entities need n of at least 1600, got 1000. Change n, k or least.
    """
    n, features = configuration.entities, configuration.total_features
    needed = configuration.clusters * configuration.least
    if needed > n:
        return (
            f"{configuration.clusters} clusters of at least {configuration.least} entities need n "
            f"of at least {needed}, got {n}. Change n, k or least."
        )
    share = configuration.noise_share
    if configuration.noise == "within-cluster" and share > 1:
        return f"noise within clusters needs a noise_share of at most 1, got {share:g}."
    if features > MOST_COLUMNS or n * features > MOST_CELLS:
        return (
            f"{n} entities with {features} features are too many. A data set may have "
            f"{MOST_COLUMNS:,} features, and {MOST_CELLS:,} cells."
        )
    return None


@dataclass(frozen=True, eq=False)
class Dataset:
    """Entities in the rows of `X`, and the true class of each in `y`."""

    X: FloatArray
    y: IntArray


def generate_dataset(configuration: Configuration, index: int, seed: int) -> Dataset:
    """Generate data set `index` of a configuration.

    Parameters
    ----------
    configuration : Configuration
        What to generate.
    index : int
        Index of the data set within the configuration, from 0.
    seed : int
        The sweep's seed.

    Returns
    -------
    Dataset
        Equal arguments give equal data. Configurations that differ in their noise alone share
        entities and classes.

    Raises
    ------
    InvalidInputError
        If there are no such data, or if they would be too large.

    Examples
    --------
    >>> noisy = generate_dataset(Configuration(60, 4, 2, "normal", 0.75), index=0, seed=2020)
    >>> noisy.X.shape, np.bincount(noisy.y).tolist()
    ((60, 7), [35, 25])
    """
    as_choice(configuration.noise, "kind of noise", NOISES)
    problem = problem_of(configuration)
    if problem:
        raise InvalidInputError(problem)
    base = configuration.base
    where = ("synthetic", base.name, as_whole_number(index, "index", 0))
    data = _base(base, default_rng(seed_sequence(seed, *where)))
    noise = default_rng(seed_sequence(seed, *where, *_noise_coordinates(configuration)))
    return Dataset(_add_noise(data, configuration, noise), data.y)


def _noise_coordinates(configuration: Configuration) -> tuple[str, ...]:
    """Return what the stream of noise depends on; the streams of the paper's data have no share."""
    kind, share = NOISES[configuration.noise], float(configuration.noise_share)
    return (kind,) if share == PAPER_SHARE else (kind, repr(share))


def _base(configuration: Configuration, rng: Generator) -> Dataset:
    n, m, k = configuration.entities, configuration.features, configuration.clusters
    y = np.repeat(np.arange(k), _cluster_sizes(n, k, configuration.least, rng))
    centroids = rng.standard_normal((k, m))
    deviations = np.sqrt(rng.uniform(*configuration.spread, size=k))
    X = centroids[y] + deviations[y, np.newaxis] * rng.standard_normal((n, m))
    return Dataset(X, y)


def _cluster_sizes(n: int, k: int, least: int, rng: Generator) -> IntArray:
    """Draw sizes uniformly from all compositions of n entities into k parts of at least `least`.

    Arrange the spare entities and k - 1 bars in a row and cut at the bars: this gives every
    composition exactly once. Sizes proportional to uniform random numbers would be too even, and
    ARIs about 0.1 too high.
    """
    slots = n - least * k + k - 1
    bars = np.sort(rng.choice(slots, size=k - 1, replace=False))
    return np.diff(bars, prepend=-1, append=slots) - 1 + least


def _add_noise(data: Dataset, configuration: Configuration, rng: Generator) -> FloatArray:
    shape = (configuration.entities, configuration.noise_features)
    match configuration.noise:
        case "uniform":
            return np.hstack([data.X, rng.uniform(data.X.min(), data.X.max(), size=shape)])
        case "normal":
            return np.hstack([data.X, rng.standard_normal(shape)])
        case "within-cluster":
            return _with_noisy_segments(data, configuration, rng)
        case "none":
            return data.X


def _with_noisy_segments(data: Dataset, configuration: Configuration, rng: Generator) -> FloatArray:
    """Replace some (feature, cluster) segments by uniform noise over the feature's range."""
    m, k = configuration.features, configuration.clusters
    segments = rng.choice(m * k, size=configuration.noisy_segments, replace=False)
    noisy = np.zeros((k, m), dtype=np.bool_)
    noisy.flat[segments] = True
    noise = rng.uniform(data.X.min(axis=0), data.X.max(axis=0), size=data.X.shape)
    return np.where(noisy[data.y], noise, data.X)
