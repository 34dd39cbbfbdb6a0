import numpy as np
import pytest

from pipeline.core import InvalidInputError, imwk, nearest_clusters
from tests import reference


@pytest.mark.parametrize("p", [1.0, 1.3, 2.0, 7.0])
def test_new_entities_go_to_the_cluster_that_the_reference_finds(p: float) -> None:
    rng = np.random.default_rng(1)
    run = imwk(rng.normal(size=(50, 4)), 5, p)
    new = 3 * rng.normal(size=(200, 4))  # many lie outside of the clustered data
    nearest, margins = reference.assign(new, run.centroids, run.weights, p)
    clear = margins > 1e-9
    assert clear.mean() > 0.9
    found = nearest_clusters(new, run.centroids, run.weights, p)
    np.testing.assert_array_equal(found[clear], nearest[clear])
    np.testing.assert_array_equal(  # no row depends on those beside it
        found, [nearest_clusters([row], run.centroids, run.weights, p)[0] for row in new]
    )


def test_the_lowest_of_clusters_at_the_same_distance_wins() -> None:
    assert nearest_clusters([[0.0]], [[1.0], [-1.0]], [[1.0], [1.0]], 1.5).tolist() == [0]


def test_entities_beyond_all_powers_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="lies so far from the clusters"):
        nearest_clusters([[1e200]], [[0.0], [1.0]], [[1.0], [1.0]], 2.0)


@pytest.mark.parametrize(
    ("centroids", "weights"),
    [([[0.0]], [[1.0]]), ([[0.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]])],
    ids=["features", "clusters"],
)
def test_shapes_that_do_not_fit_are_refused(
    centroids: list[list[float]], weights: list[list[float]]
) -> None:
    with pytest.raises(InvalidInputError, match="have the shapes"):
        nearest_clusters([[0.0, 1.0]], centroids, weights, 2.0)
