"""The paper's synthetic data: 12 configurations of the generator, by the paper's names."""

from pipeline.core.validation import as_choice
from pipeline.datasets.generator import (
    NOISES,
    PAPER_SHARE,
    Configuration,
    Dataset,
    Noise,
    generate_dataset,
)

ENTITIES = 1000
_SHAPES = ((6, 3), (12, 6), (20, 10))


def _configuration(features: int, clusters: int, noise: Noise) -> Configuration:
    share = 0.0 if noise == "none" else PAPER_SHARE
    return Configuration(ENTITIES, features, clusters, noise, share)


#: The paper's 12 configurations by name, in the order of the paper tables.
CONFIGURATIONS: dict[str, Configuration] = {
    configuration.name: configuration
    for noise in NOISES
    for configuration in (_configuration(m, k, noise) for m, k in _SHAPES)
}


def synthetic_dataset(config: str, index: int, seed: int) -> Dataset:
    """Generate data set `index` of one of the paper's configurations.

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
    known = CONFIGURATIONS[as_choice(config, "configuration", CONFIGURATIONS)]
    return generate_dataset(known, index, seed)
