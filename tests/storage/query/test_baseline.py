from pathlib import Path

import numpy as np
import pytest

from pipeline.core.errors import InvalidInputError
from storage import create_cube, open_cube
from storage.query import baseline_of, beats_kmeans, expected_ari, share_beating_kmeans
from tests.storage.grids import plain_mean
from tests.storage.made_up import small_spec
from tests.storage.query.small_cubes import NAN, by_hand, partial_cube


def test_share_beating_kmeans_by_hand() -> None:
    # means over data sets are 0.6, 0.5, 0.4, 0.1; 0.5 equals the expected ARI, and does not beat it
    exact = np.array([[0.25, 0.75], [0.5, 0.5]])
    cube = by_hand().assign(
        kmeans_ari=(("config", "dataset", "normalisation", "restart"), exact[None, :, None])
    )
    assert beats_kmeans(cube).values.ravel().tolist() == [True, False, False, False]
    share = share_beating_kmeans(cube).squeeze()
    assert (float(share.share), int(share.cells), int(share.datasets)) == (0.25, 4, 2)


def test_other_scores_with_classes_are_compared_with_their_own_baseline() -> None:
    names = {"rescaled_imwk_ari": "rescaled_imwk_ami", "kmeans_ari": "kmeans_ami"}
    cube = by_hand().rename(names)
    assert baseline_of(cube, "rescaled_imwk_ami") == "kmeans_ami"
    np.testing.assert_array_equal(beats_kmeans(cube, "rescaled_imwk_ami"), beats_kmeans(by_hand()))
    assert baseline_of(by_hand().rename({"kmeans_ari": "kmeans_nmi"}), "rescaled_imwk_ari") is None


def test_both_means_of_a_cell_are_over_the_same_data_sets() -> None:
    # only the first data set, hard for k-means++ (0.3), has the pair; the mean of both is 0.5
    grid = np.full((2, 2, 2), NAN)
    grid[0, 0, 0] = 0.4
    cube = by_hand(grid)
    assert beats_kmeans(cube).values.ravel().tolist() == [True, False, False, False]
    share = share_beating_kmeans(cube).squeeze()
    assert (float(share.share), int(share.cells), int(share.datasets)) == (1.0, 1, 1)


def test_kmeans_of_a_partial_cube_is_that_of_plain_numpy(tmp_path: Path) -> None:
    cube = partial_cube(tmp_path, done=1)
    expected = expected_ari(cube).compute()
    shares = share_beating_kmeans(cube).compute()
    for at in [
        {"config": c, "normalisation": n} for c in cube.config.values for n in ("range", "z-score")
    ]:
        restarts, grids = cube.kmeans_ari.sel(at).values, cube.rescaled_imwk_ari.sel(at).values
        mean, _, count = plain_mean(restarts.mean(axis=1))
        assert float(expected.average.sel(at)) == pytest.approx(mean)
        assert int(expected.datasets.sel(at)) == count == (1 if at["config"] == "1000x6-3" else 4)
        higher = [plain_mean(grids[:, i, j])[0] > mean for i in range(3) for j in range(2)]
        assert float(shares.share.sel(at)) == pytest.approx(sum(higher) / 6)
        assert int(shares.datasets.sel(at)) == count


def test_variables_without_a_baseline_are_refused(tmp_path: Path) -> None:
    location = tmp_path / "cube.zarr"
    create_cube(location, small_spec(parts=["rescaled_imwk"]))
    with pytest.raises(InvalidInputError, match="rescaled_imwk_ari cannot be compared with"):
        beats_kmeans(open_cube(location))
    counts = by_hand().rename(rescaled_imwk_ari="rescaled_imwk_clusters")
    with pytest.raises(InvalidInputError, match="rescaled_imwk_clusters cannot be compared with"):
        beats_kmeans(counts, "rescaled_imwk_clusters")
