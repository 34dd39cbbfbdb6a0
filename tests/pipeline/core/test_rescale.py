import numpy as np

from pipeline.core import rescale


def test_every_entity_is_multiplied_by_the_weights_of_its_own_cluster() -> None:
    rng = np.random.default_rng(1)
    X, labels, weights = rng.random((20, 3)), rng.integers(0, 4, size=20), rng.random((4, 3))
    result = rescale(X, labels, weights)
    for i in range(20):
        for v in range(3):
            assert result[i, v] == X[i, v] * weights[labels[i], v]
