"""The public interface of the package."""

import subprocess
import sys

import pytest

import storage

PUBLIC = {
    # classes
    "Counts",
    "CubeLocation",
    "Ledger",
    "Provenance",
    "Status",
    "Verification",
    "Work",
    # errors
    "CubeError",
    "CubeMismatchError",
    "CubeNotFoundError",
    "DamagedCubeError",
    # a cube as a whole
    "cancel_sweeps",
    "create_cube",
    "export_cube",
    "extend_cube",
    "reset_failed",
    "open_cube",
    "paired_differences",
    "read_ledger",
    "read_provenance",
    "read_spec",
    "stored_table",
    "verify_cube",
    # what a cube keeps of its runs
    "labels",
    "weights",
    "ranked_features",
    # queries to an open cube
    "averaged",
    "beats_kmeans",
    "best_average",
    "best_exponents",
    "best_results",
    "chosen_exponents",
    "compare_cubes",
    "compared_with_kmeans",
    "expected_ari",
    "scores",
    "select",
    "share_beating_kmeans",
}


def test_the_public_names_are_these() -> None:
    assert set(storage.__all__) == PUBLIC


def test_dir_shows_the_public_names_only() -> None:
    assert {name for name in dir(storage) if not name.startswith("__")} == PUBLIC


def test_every_public_name_exists_and_is_documented() -> None:
    for name in PUBLIC - {"CubeLocation"}:
        assert getattr(storage, name).__doc__, name
    assert storage.CubeLocation


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'storage' has no attribute 'opencube'"):
        storage.opencube  # type: ignore[attr-defined]  # noqa: B018 - the access raises


def test_workers_do_not_load_xarray() -> None:
    program = (
        "import sys, storage, workflows.cube_store, workflows.compute.probe; dir(storage); "
        "heavy = {'xarray', 'pandas'}; assert not heavy & set(sys.modules); "
        "storage.open_cube; assert heavy <= set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
