"""Questions to a cube: selections, means, best exponents, comparisons and exports.

The functions take an open cube, as `storage.open_cube` returns it, and return lazy, labelled xarray
objects. Reading a damaged cube raises `storage.DamagedCubeError` where they are computed.
"""

from storage.query.averages import averaged, expected_ari, scores
from storage.query.baseline import (
    baseline_of,
    beats_kmeans,
    compared_with_kmeans,
    share_beating_kmeans,
)
from storage.query.best import best_average, best_exponents, best_scores
from storage.query.choice import chosen_exponents, main_variable, score_variable
from storage.query.diff import compare_cubes
from storage.query.export import export_cube
from storage.query.paired import best_results, paired_differences
from storage.query.selection import (
    DEFAULT_VARIABLE,
    as_variable,
    config_coordinates,
    described,
    exponents_of,
    is_unlabelled,
    results_of,
    select,
    unlabelled_configs,
)

__all__ = [
    "DEFAULT_VARIABLE",
    "as_variable",
    "averaged",
    "baseline_of",
    "beats_kmeans",
    "best_average",
    "best_exponents",
    "best_results",
    "best_scores",
    "chosen_exponents",
    "compare_cubes",
    "compared_with_kmeans",
    "config_coordinates",
    "described",
    "expected_ari",
    "exponents_of",
    "export_cube",
    "is_unlabelled",
    "main_variable",
    "paired_differences",
    "results_of",
    "score_variable",
    "scores",
    "select",
    "share_beating_kmeans",
    "unlabelled_configs",
]
