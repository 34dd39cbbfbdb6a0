"""Clustering by imwk-means and sweeps over its exponents: the public interface of this layer.

The estimators for scikit-learn are in the module `pipeline.estimators`, which has to be imported by
name; cubes and everything that runs on
them are in the packages `storage` and `workflows`.

Names are loaded on first use, so that ``import pipeline.core`` loads NumPy and nothing else.

Examples
--------
>>> import pipeline
>>> pipeline.imwk([[0.0], [0.1], [1.0], [1.1]], k=2, p=1.5).labels.tolist()
[1, 1, 0, 0]
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pipeline.core import (
        NORMALISATIONS,
        ConstantFeatureWarning,
        ImwkError,
        ImwkResult,
        InvalidInputError,
        KMeansResult,
        adjusted_mutual_info,
        adjusted_rand_index,
        calinski_harabasz,
        central_scores,
        consensus_labels,
        davies_bouldin,
        ensembles,
        imwk,
        imwk_grid,
        imwk_many,
        info_score,
        kmeans,
        kmeans_many,
        minkowski_centre,
        nearest_clusters,
        normalise,
        normalised_mutual_info,
        rescale,
        silhouette,
    )
    from pipeline.datasets import (
        CONFIGURATIONS,
        Configuration,
        Dataset,
        Table,
        fetch_uci,
        generate_dataset,
        load_battery,
        load_uci,
        make_table,
        read_table,
        synthetic_dataset,
    )
    from pipeline.errors import (
        MissingDataError,
        MissingExtraError,
        OutputError,
        PluginError,
        Problem,
        SchedulerLostError,
        SpecError,
        TableError,
    )
    from pipeline.execution.block import BlockResult, run_block, run_tile
    from pipeline.execution.plan import Plan, make_plan
    from pipeline.execution.workload import RunCost
    from pipeline.plugins import (
        register_clusterer,
        register_generator,
        register_normalisation,
        register_score,
    )
    from pipeline.score_facts import DEFAULT_SCORES, SCORE_FACTS, SCORES, ScoreFacts
    from pipeline.spec import (
        PAPER_NORMALISATIONS,
        PARTS,
        SpecFile,
        Sweep,
        SweepSpec,
        TableFacts,
        Tile,
        read_spec,
        read_spec_file,
        read_sweep,
    )
    from pipeline.spec.blocks import Block

    __version__: str

__all__ = [
    "CONFIGURATIONS",
    "DEFAULT_SCORES",
    "NORMALISATIONS",
    "PAPER_NORMALISATIONS",
    "PARTS",
    "SCORES",
    "SCORE_FACTS",
    "Block",
    "BlockResult",
    "Configuration",
    "ConstantFeatureWarning",
    "Dataset",
    "ImwkError",
    "ImwkResult",
    "InvalidInputError",
    "KMeansResult",
    "MissingDataError",
    "MissingExtraError",
    "OutputError",
    "Plan",
    "PluginError",
    "Problem",
    "RunCost",
    "SchedulerLostError",
    "ScoreFacts",
    "SpecError",
    "SpecFile",
    "Sweep",
    "SweepSpec",
    "Table",
    "TableError",
    "TableFacts",
    "Tile",
    "__version__",
    "adjusted_mutual_info",
    "adjusted_rand_index",
    "calinski_harabasz",
    "central_scores",
    "consensus_labels",
    "davies_bouldin",
    "ensembles",
    "fetch_uci",
    "generate_dataset",
    "imwk",
    "imwk_grid",
    "imwk_many",
    "info_score",
    "kmeans",
    "kmeans_many",
    "load_battery",
    "load_uci",
    "make_plan",
    "make_table",
    "minkowski_centre",
    "nearest_clusters",
    "normalise",
    "normalised_mutual_info",
    "read_spec",
    "read_spec_file",
    "read_sweep",
    "read_table",
    "register_clusterer",
    "register_generator",
    "register_normalisation",
    "register_score",
    "rescale",
    "run_block",
    "run_tile",
    "silhouette",
    "synthetic_dataset",
]

#: Where public names are looked up. Each module imports only modules before it in this list, so
#: the search loads nothing that the name does not need.
_MODULES = (
    "pipeline.core",
    "pipeline.errors",
    "pipeline.datasets",
    "pipeline.score_facts",
    "pipeline.plugins",
    "pipeline.spec",
    "pipeline.execution.block",
    "pipeline.execution.workload",
    "pipeline.execution.plan",
)


if not TYPE_CHECKING:  # type checkers would take any name for a public one

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = _version() if name == "__version__" else _found(name)
        globals()[name] = value  # so that the next access does not come here
        return value


def __dir__() -> list[str]:
    return list(__all__)


def _found(name: str) -> Any:
    modules = (import_module(module) for module in _MODULES)
    return getattr(next(module for module in modules if hasattr(module, name)), name)


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("imwk-sweep")
    except PackageNotFoundError:  # a checkout that is not installed
        return "0+unknown"
