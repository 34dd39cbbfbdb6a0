"""Cubes with scores beside the ARI: their arrays, damage and extensions."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr
import zarr

from pipeline.score_facts import SCORES
from pipeline.spec.blocks import whole_tile
from storage import (
    CubeError,
    CubeMismatchError,
    create_cube,
    extend_cube,
    open_cube,
    read_ledger,
    read_spec,
    verify_cube,
)
from storage.layout.schema import SCORE_RESULTS, variables
from storage.tiles import write_tile
from tests.storage.made_up import comparable, fill, made_up, plain, small_spec

SPEC = small_spec(count=1, configs=["1000x6-3"], scores=SCORES)
TILE = SPEC.tiles[0]
#: The variables of all scores that a sweep computes.
NAMES = set(variables(SCORES)) - set(variables([]))


@pytest.fixture
def cube(tmp_path: Path) -> Path:
    """Return a complete cube with all scores."""
    create_cube(tmp_path / "cube.zarr", SPEC)
    fill(tmp_path / "cube.zarr")
    return tmp_path / "cube.zarr"


def score_arrays(location: Path) -> set[str]:
    return {path.parent.name for path in location.glob("*/zarr.json")} & SCORE_RESULTS.keys()


def test_a_cube_has_the_arrays_of_its_scores_and_no_others(tmp_path: Path) -> None:
    create_cube(tmp_path / "none.zarr", small_spec())
    create_cube(tmp_path / "one.zarr", small_spec(scores=["silhouette"]))
    assert score_arrays(tmp_path / "none.zarr") == set()
    assert score_arrays(tmp_path / "one.zarr") == {
        "kmeans_silhouette",
        "imwk_silhouette",
        "rescaled_kmeans_silhouette",
        "rescaled_imwk_silhouette",
    }


def test_scores_are_read_as_they_were_written(cube: Path) -> None:
    stored = open_cube(cube).sel(config="1000x6-3", dataset=0, normalisation=TILE.normalisation)
    written = made_up(SPEC, whole_tile(SPEC, TILE)).arrays
    for name in NAMES:
        np.testing.assert_array_equal(stored[name], written[name], err_msg=name)


def test_only_imwk_means_has_the_central_partition() -> None:
    assert SCORE_RESULTS.keys() - NAMES == {"imwk_central", "rescaled_imwk_central"}


def test_a_tile_without_its_scores_is_not_complete(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", SPEC)
    lacking = made_up(SPEC.model_copy(update={"scores": ()}), whole_tile(SPEC, TILE))
    with pytest.raises(CubeError, match="cells are missing in kmeans_silhouette"):
        write_tile(tmp_path / "cube.zarr", TILE, [lacking])


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("imwk_silhouette", -1.1, "has -1.1, outside -1 to 1"),
        ("imwk_calinski_harabasz", -0.5, "has -0.5, outside 0 to inf"),
        ("imwk_calinski_harabasz", np.inf, "lacks 1 of 3 values"),
        ("imwk_silhouette", np.nan, "lacks 1 of 3 values"),
        ("imwk_ami", -1.1, "has -1.1, outside -1 to 1"),
        ("imwk_nmi", -0.1, "has -0.1, outside 0 to 1"),
        ("imwk_info", np.inf, "lacks 1 of 3 values"),
        ("imwk_davies_bouldin", -0.1, "has -0.1, outside 0 to inf"),
        ("imwk_davies_bouldin", np.nan, "lacks 1 of 3 values"),
    ],
)
def test_scores_that_cannot_be_right_are_found(
    cube: Path, name: str, value: float, reason: str
) -> None:
    cell = (0, 0, SPEC.normalisations.index(TILE.normalisation), 0)
    zarr.open_array(cube / name, mode="r+")[cell] = value
    assert verify_cube(cube).damaged == {TILE: (f"{name} {reason}",)}


def test_an_undefined_davies_bouldin_score_is_infinite(cube: Path) -> None:
    cell = (0, 0, SPEC.normalisations.index(TILE.normalisation), 0)
    zarr.open_array(cube / "imwk_davies_bouldin", mode="r+")[cell] = np.inf
    assert verify_cube(cube).damaged == {}


def test_a_lost_chunk_of_scores_is_found_and_computed_again(cube: Path) -> None:
    before = comparable(plain(cube))
    next((cube / "rescaled_imwk_silhouette").glob("c.0.*")).unlink()
    assert len(verify_cube(cube, repair=True).damaged) == 1
    assert len(read_ledger(cube).todo) == 1
    fill(cube)
    xr.testing.assert_identical(comparable(plain(cube)), before)


def test_scores_are_extended_with_the_cube(cube: Path, tmp_path: Path) -> None:
    larger = small_spec(scores=SCORES, p1=[1.1, 1.4, 1.7, 2.0])
    extend_cube(cube, larger)
    fill(cube)
    create_cube(tmp_path / "at once.zarr", larger)
    fill(tmp_path / "at once.zarr")
    grown, at_once = (open_cube(each) for each in (cube, tmp_path / "at once.zarr"))
    for name in NAMES:
        xr.testing.assert_equal(grown[name].load(), at_once[name].load())


def test_scores_cannot_be_added_to_a_cube(tmp_path: Path) -> None:
    create_cube(tmp_path / "cube.zarr", small_spec())
    with pytest.raises(CubeMismatchError, match=r"scores: none \(cube\), silhouette \(spec\)"):
        extend_cube(tmp_path / "cube.zarr", small_spec(count=3, scores=["silhouette"]))


def test_a_spec_that_names_no_scores_fits_a_cube_with_any(tmp_path: Path) -> None:
    cube = tmp_path / "cube.zarr"
    create_cube(cube, small_spec(scores=["silhouette"]))
    create_cube(cube, small_spec())
    extend_cube(cube, small_spec(count=3))
    assert read_spec(cube).scores == ("silhouette",)
    with pytest.raises(CubeMismatchError, match=r"scores: silhouette \(cube\), none \(spec\)"):
        create_cube(cube, small_spec(count=3, scores=[]))
