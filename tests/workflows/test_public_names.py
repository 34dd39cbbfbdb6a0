"""The names that users import from `workflows`."""

import subprocess
import sys
from importlib import import_module

import pytest

import workflows

NAMES = [
    "PRESETS",
    "ArgumentError",
    "CancelledSweepError",
    "Certificates",
    "Choice",
    "Clustering",
    "DatasetChoice",
    "InsecureSchedulerError",
    "JobSettings",
    "PairedComparison",
    "Pick",
    "PictureError",
    "Started",
    "SweepReport",
    "TileEnded",
    "WorkersError",
    "best_choice",
    "choose",
    "cluster_best",
    "cluster_table",
    "compare",
    "compare_with_paper",
    "curve_points",
    "draw_clustering",
    "job_client",
    "load_sweep",
    "local_client",
    "mean_grids",
    "own_sweep",
    "preset_text",
    "remote_client",
    "score_cube",
    "submit",
    "submit_detached",
    "write_curves",
    "write_heatmaps",
    "write_labels",
    "write_report",
]


def test_the_public_names_are_fixed() -> None:
    assert workflows.__all__ == NAMES
    assert dir(workflows) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_defined_in_its_module(name: str) -> None:
    found = getattr(workflows, name)
    assert found is vars(import_module(workflows._MODULES[name]))[name]
    if name != "PRESETS":
        assert found.__doc__


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'workflows' has no attribute 'submitt'"):
        workflows.submitt  # type: ignore[attr-defined]  # noqa: B018 - the access raises


def test_names_are_imported_when_they_are_used() -> None:
    program = (
        "import sys, workflows; dir(workflows); "
        "heavy = {'numpy', 'dask', 'zarr'}; assert not heavy & set(sys.modules); "
        "workflows.submit; assert heavy <= set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True, capture_output=True)
