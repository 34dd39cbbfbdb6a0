import numpy as np

from pipeline.core.lanes.start import Patterns, largest_patterns


def patterns(lanes: list[int], sizes: list[int], names: list[float]) -> Patterns:
    """Return patterns of one feature, whose centroids are their names."""
    centroids = np.array([names])
    return Patterns(np.array(lanes), np.array(sizes), centroids, -centroids)


def test_the_largest_are_kept_in_order_and_of_equal_ones_the_first() -> None:
    found = [
        patterns([0, 1], [2, 9], [1.0, 10.0]),
        patterns([1, 0], [1, 5], [20.0, 2.0]),
        patterns([0, 0], [5, 3], [3.0, 4.0]),
    ]
    start = largest_patterns(found, k=3)
    np.testing.assert_array_equal(start.centroids, [[[2.0, 3.0, 4.0], [10.0, 20.0, 0.0]]])
    np.testing.assert_array_equal(start.weights, -start.centroids)
    assert start.clusters.tolist() == [3, 2]
    assert start.patterns.tolist() == [4, 2]
