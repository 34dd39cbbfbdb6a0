"""How people drive it: the command line and what it calls."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from workflows.sweep import SweepReport, submit

__all__ = ["SweepReport", "submit"]


def __getattr__(name: str) -> Any:
    # Loaded when asked for: Dask and Zarr take a second, which `imwk --help` must not wait for.
    if name in __all__:
        from workflows import sweep

        return getattr(sweep, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
