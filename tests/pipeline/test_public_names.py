"""The public names of this layer, and what importing them loads."""

import ast
import subprocess
import sys
from importlib import import_module, metadata
from pathlib import Path

import pytest

import pipeline
from pipeline import core

CORE = {
    "NORMALISATIONS",
    "ConstantFeatureWarning",
    "ImwkError",
    "ImwkResult",
    "InvalidInputError",
    "KMeansResult",
    "adjusted_mutual_info",
    "adjusted_rand_index",
    "calinski_harabasz",
    "central_scores",
    "consensus_labels",
    "davies_bouldin",
    "ensembles",
    "imwk",
    "imwk_grid",
    "imwk_many",
    "info_score",
    "kmeans",
    "kmeans_many",
    "minkowski_centre",
    "nearest_clusters",
    "normalise",
    "normalised_mutual_info",
    "rescale",
    "silhouette",
}
DATASETS = {
    "CONFIGURATIONS",
    "Configuration",
    "Dataset",
    "Table",
    "TableError",
    "fetch_uci",
    "generate_dataset",
    "load_battery",
    "load_uci",
    "make_table",
    "read_table",
    "synthetic_dataset",
}
SPEC = {
    "PAPER_NORMALISATIONS",
    "PARTS",
    "SpecFile",
    "Sweep",
    "SweepSpec",
    "TableFacts",
    "Tile",
    "read_spec",
    "read_spec_file",
    "read_sweep",
}
#: Names of `pipeline.spec` that are for this project's own modules.
SPEC_ONLY = {"KEEP", "RESTARTED", "parse_spec_file"}
OTHERS = {
    "Block",
    "BlockResult",
    "DEFAULT_SCORES",
    "MissingDataError",
    "MissingExtraError",
    "OutputError",
    "Plan",
    "PluginError",
    "Problem",
    "register_clusterer",
    "register_generator",
    "register_normalisation",
    "register_score",
    "RunCost",
    "SCORES",
    "SCORE_FACTS",
    "SchedulerLostError",
    "ScoreFacts",
    "SpecError",
    "__version__",
    "make_plan",
    "run_block",
    "run_tile",
}
PUBLIC = {
    "pipeline": CORE | DATASETS | SPEC | OTHERS,
    "pipeline.core": CORE,
    "pipeline.datasets": DATASETS,
    "pipeline.spec": SPEC | SPEC_ONLY,
}


@pytest.mark.parametrize("module", PUBLIC)
def test_public_names_are_pinned_and_each_is_there(module: str) -> None:
    loaded = import_module(module)
    assert len(loaded.__all__) == len(set(loaded.__all__))
    assert set(loaded.__all__) == PUBLIC[module]
    for name in loaded.__all__:
        assert getattr(loaded, name) is not None


def test_completion_shows_the_public_names_and_nothing_else() -> None:
    assert dir(pipeline) == sorted(PUBLIC["pipeline"])


def test_a_name_is_the_same_object_everywhere() -> None:
    for name in core.__all__:
        assert getattr(pipeline, name) is getattr(core, name)


def test_type_checkers_see_the_public_names() -> None:
    tree = ast.parse(Path(str(pipeline.__file__)).read_text(encoding="utf-8"))
    typed = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in typed.body if isinstance(node, ast.ImportFrom)]
    imported = {alias.name for node in imports for alias in node.names}
    assert imported == PUBLIC["pipeline"] - {"__version__"}


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="module 'pipeline' has no attribute 'imkw'"):
        _ = pipeline.imkw  # type: ignore[attr-defined]


def test_the_version_is_that_of_the_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    assert pipeline.__version__ == metadata.version("imwk-sweep")

    def not_installed(name: str) -> str:
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(metadata, "version", not_installed)
    monkeypatch.delattr(pipeline, "__version__")
    assert pipeline.__version__ == "0+unknown"
    monkeypatch.delattr(pipeline, "__version__")


SCRIPT = """
import sys
before = set(sys.modules)
{}
for name in set(sys.modules) - before:
    if getattr(sys.modules[name], "__spec__", None):  # not of the compiled modules of Cython
        print(name)
"""


def third_party_modules(statement: str) -> set[str]:
    """Return the top-level packages outside the standard library that a statement loads."""
    child = subprocess.run(
        [sys.executable, "-c", SCRIPT.format(statement)], check=True, capture_output=True, text=True
    )
    loaded = {module.split(".")[0] for module in child.stdout.split()}
    return loaded - sys.stdlib_module_names - {"pipeline"}


LOADS: dict[str, set[str]] = {
    "import pipeline": set(),
    "import pipeline; dir(pipeline)": set(),
    "import pipeline.core": {"numpy"},
    "import pipeline; pipeline.imwk": {"numpy"},
    "import pipeline; pipeline.TableError": {"numpy"},
    "import pipeline; pipeline.read_table": {"numpy"},
}


@pytest.mark.parametrize("statement", LOADS)
def test_importing_loads_no_more_than_is_needed(statement: str) -> None:
    assert third_party_modules(statement) == LOADS[statement]


def test_specs_and_plans_load_neither_pandas_nor_dask() -> None:
    loaded = third_party_modules("import pipeline; pipeline.SweepSpec; pipeline.make_plan")
    assert not loaded & {"pandas", "dask", "distributed", "xarray", "zarr", "sklearn"}
