"""Where results are stored: a cube, one Zarr group that many workers write and anyone can read.

Create and fill a cube with `workflows.submit`; read it with `open_cube`, and ask it with functions
such as `select` and `best_exponents`.

What needs xarray is imported when it is first used: it takes a second and 100 MB, and workers do
without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from storage.backends.location import CubeLocation
from storage.control import cancel_sweeps
from storage.create import create_cube
from storage.errors import CubeError, CubeMismatchError, CubeNotFoundError, DamagedCubeError
from storage.extend import extend_cube
from storage.handle import read_spec
from storage.layout.schema import Status
from storage.ledger import Counts, Ledger, Work, read_ledger
from storage.provenance import Provenance, read_provenance
from storage.tables import stored_table
from storage.tiles import reset_failed
from storage.verify import Verification, verify_cube

if TYPE_CHECKING:
    from storage.opening import open_cube
    from storage.query.averages import averaged, expected_ari, scores
    from storage.query.baseline import beats_kmeans, compared_with_kmeans, share_beating_kmeans
    from storage.query.best import best_average, best_exponents
    from storage.query.choice import chosen_exponents
    from storage.query.diff import compare_cubes
    from storage.query.export import export_cube
    from storage.query.features import ranked_features
    from storage.query.kept import labels, weights
    from storage.query.paired import best_results, paired_differences
    from storage.query.selection import select

__all__ = [
    "Counts",
    "CubeError",
    "CubeLocation",
    "CubeMismatchError",
    "CubeNotFoundError",
    "DamagedCubeError",
    "Ledger",
    "Provenance",
    "Status",
    "Verification",
    "Work",
    "averaged",
    "beats_kmeans",
    "best_average",
    "best_exponents",
    "best_results",
    "cancel_sweeps",
    "chosen_exponents",
    "compare_cubes",
    "compared_with_kmeans",
    "create_cube",
    "expected_ari",
    "export_cube",
    "extend_cube",
    "labels",
    "open_cube",
    "paired_differences",
    "ranked_features",
    "read_ledger",
    "read_provenance",
    "read_spec",
    "reset_failed",
    "scores",
    "select",
    "share_beating_kmeans",
    "stored_table",
    "verify_cube",
    "weights",
]

#: The names that modules with xarray provide; the imports above are the same for type checkers.
_NAMES = {
    "opening": ("open_cube",),
    "query.averages": ("averaged", "expected_ari", "scores"),
    "query.baseline": ("beats_kmeans", "compared_with_kmeans", "share_beating_kmeans"),
    "query.best": ("best_average", "best_exponents"),
    "query.choice": ("chosen_exponents",),
    "query.diff": ("compare_cubes",),
    "query.export": ("export_cube",),
    "query.features": ("ranked_features",),
    "query.kept": ("labels", "weights"),
    "query.paired": ("best_results", "paired_differences"),
    "query.selection": ("select",),
}
_MODULES = {name: f"{__name__}.{module}" for module, names in _NAMES.items() for name in names}


if not TYPE_CHECKING:  # type checkers know all names, and report others

    def __getattr__(name: str) -> Any:
        if name in _MODULES:
            return getattr(import_module(_MODULES[name]), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public names, without the modules that have been imported."""
    return [*__all__, *(name for name in globals() if name.startswith("__"))]
