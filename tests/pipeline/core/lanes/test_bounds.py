import numpy as np
import pytest
from numpy.typing import ArrayLike

from pipeline.core.lanes.bounds import LARGEST, Bounds, Clusters, changes_of
from pipeline.core.types import Float64Array

pytestmark = pytest.mark.usefixtures("as_public_functions_call")

PRESENT = np.zeros((1, 1), dtype=bool)


def one_cluster(centroid: ArrayLike, weights: ArrayLike) -> Clusters:
    return Clusters(*(np.asarray(part)[:, np.newaxis, np.newaxis] for part in (centroid, weights)))


def distances(X: Float64Array, cluster: Clusters, p: float) -> Float64Array:
    """Return ``||w (x - z)||_p`` of the columns of `X`."""
    z, w = (part[:, 0] for part in cluster)
    return np.asarray(((w * np.abs(X - z)) ** p).sum(axis=0) ** (1 / p))


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 7.0])
@pytest.mark.parametrize("seed", range(10))
def test_bounds_follow_a_cluster_that_moves(seed: int, p: float) -> None:
    rng = np.random.default_rng(seed)
    X, exponent, scale = rng.normal(size=(3, 50)), np.array([p]), np.array([4.0])
    before, after = (one_cluster(rng.normal(size=3), rng.dirichlet(np.ones(3))) for _ in range(2))
    exact = (distances(X, before, p) / scale).astype(np.float32)
    bounds = Bounds(exact[np.newaxis, np.newaxis] * 0.999999, exact[np.newaxis] * 1.000001)
    changes = changes_of(before, after, exponent, scale, PRESENT)
    bounds.loosen(changes, np.zeros((1, 50), dtype=np.uint8))
    now = distances(X, after, p) / scale
    assert (bounds.lower[0, 0] <= now).all()
    assert (now <= bounds.upper[0]).all()


def test_absent_clusters_stay_infinitely_far() -> None:
    bounds = Bounds.none_yet(np.array([[False, True]]), n=3)
    two = Clusters(*(np.ones((1, 1, 2)) for _ in range(2)))
    changes = changes_of(two, two, np.array([2.0]), np.ones(1), np.array([[False, True]]))
    bounds.loosen(changes, np.zeros((1, 3), dtype=np.uint8))
    np.testing.assert_array_equal(bounds.lower[0, 1], np.inf)
    assert (bounds.upper <= LARGEST).all()


def test_a_weight_that_grows_beyond_all_numbers_bounds_nothing() -> None:
    before, after = one_cluster([0, 0], [1e-310, 1.0]), one_cluster([0, 0], [0.5, 0.5])
    changes = changes_of(before, after, np.array([1.0001]), np.ones(1), PRESENT)
    assert changes.grows[0, 0] == np.inf
    bounds = Bounds(np.ones((1, 1, 2), np.float32), np.array([[0.0, 1.0]], dtype=np.float32))
    bounds.loosen(changes, np.zeros((1, 2), dtype=np.uint8))
    np.testing.assert_array_equal(bounds.upper, LARGEST)
