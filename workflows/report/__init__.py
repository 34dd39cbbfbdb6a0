"""An HTML page for exploring a cube: one file that works without network."""

from os import PathLike
from pathlib import Path

from pipeline.errors import PluginError, requires_extra
from pipeline.files import output_errors, replacing
from storage import CubeLocation, open_cube, read_ledger, read_provenance
from storage.query import results_of
from workflows.choice import DatasetChoice, choose
from workflows.choice.candidates import keeps_candidates

with requires_extra("report", "The report needs Bokeh and Matplotlib"):
    from workflows.report.page import report_page

__all__ = ["report_page", "write_report"]


def write_report(location: CubeLocation, out: str | PathLike[str]) -> int:
    """Write a report about a cube as one HTML page.

    Parameters
    ----------
    location : path
        An existing cube. The report shows the tiles that are done.
    out : path
        The file, which is made or replaced as a whole.

    Returns
    -------
    int
        The size of the file in bytes.

    Raises
    ------
    CubeError
        If the cube cannot be read.
    OutputError
        If the file cannot be written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}}, p1=[1.4])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     size = write_report(f"{folder}/cube.zarr", f"{folder}/report.html")
    ...     Path(f"{folder}/report.html").stat().st_size == size
    True
    """
    ledger, provenance = read_ledger(location), read_provenance(location)
    opened = open_cube(location)
    needed = opened[[*results_of(opened), "tile_seconds"]].assign_coords(opened.coords)
    chosen = _chosen(location) if ledger.done and keeps_candidates(provenance.spec) else []
    page = report_page(Path(location).name, needed.load(), ledger, provenance, chosen).encode()
    with output_errors(Path(out)), replacing(Path(out)) as beside:
        beside.write_bytes(page)
    return len(page)


def _chosen(location: CubeLocation) -> list[DatasetChoice]:
    """Return what would be chosen without classes, nothing if a plug-in for that is missing."""
    try:
        return choose(location)
    except PluginError:
        return []
