"""The public interface for running sweeps, reading cubes, drawing figures and clustering tables.

Names are imported when they are first used: Dask and Zarr take a second to import, and
`imwk --help` must not wait for them.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflows.best_clustering import Choice, best_choice, cluster_best
    from workflows.choice import DatasetChoice, Pick, choose
    from workflows.choice.rescoring import score_cube
    from workflows.clustering import Clustering, cluster_table, write_labels
    from workflows.compute import (
        Certificates,
        JobSettings,
        job_client,
        local_client,
        remote_client,
    )
    from workflows.detached import submit_detached
    from workflows.errors import (
        ArgumentError,
        CancelledSweepError,
        InsecureSchedulerError,
        PictureError,
        WorkersError,
    )
    from workflows.pairs.comparing import PairedComparison, compare
    from workflows.paper.comparison import compare_with_paper
    from workflows.plots.curves import write_curves
    from workflows.plots.heatmaps import mean_grids, write_heatmaps
    from workflows.plots.scatter import draw_clustering
    from workflows.presets import PRESETS, preset_text
    from workflows.report import write_report
    from workflows.spec_files import load_sweep
    from workflows.summary.curve_points import curve_points
    from workflows.sweep import Started, SweepReport, TileEnded, submit
    from workflows.table_sweep import own_sweep

__all__ = [
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

#: The names that each module provides; the imports above are the same for type checkers.
_NAMES = {
    "best_clustering": ("Choice", "best_choice", "cluster_best"),
    "choice": ("DatasetChoice", "Pick", "choose"),
    "choice.rescoring": ("score_cube",),
    "clustering": ("Clustering", "cluster_table", "write_labels"),
    "compute": ("Certificates", "JobSettings", "job_client", "local_client", "remote_client"),
    "detached": ("submit_detached",),
    "errors": (
        "ArgumentError",
        "CancelledSweepError",
        "InsecureSchedulerError",
        "PictureError",
        "WorkersError",
    ),
    "table_sweep": ("own_sweep",),
    "pairs.comparing": ("PairedComparison", "compare"),
    "paper.comparison": ("compare_with_paper",),
    "plots.curves": ("write_curves",),
    "plots.heatmaps": ("mean_grids", "write_heatmaps"),
    "plots.scatter": ("draw_clustering",),
    "presets": ("PRESETS", "preset_text"),
    "report": ("write_report",),
    "spec_files": ("load_sweep",),
    "summary.curve_points": ("curve_points",),
    "sweep": ("Started", "SweepReport", "TileEnded", "submit"),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # type checkers know all names, and report others

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
