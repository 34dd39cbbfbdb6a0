"""Write the small cube of version 0.1.0 that every later version must read.

It was run once, in a checkout of commit 0002dff; `test_old_cubes.py` reads what it left. The cube
has synthetic data and two tables, one of them without labels, an extension and a failed tile::

    python tests/storage/old_cubes/v0_1_0/make_cube.py
"""

import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import xarray as xr

from pipeline.datasets import Table
from pipeline.draft import Sweep
from pipeline.sources import MatrixFacts
from pipeline.spec import SweepSpec
from storage import extend_cube, mark_failed, mark_missing
from workflows import submit

HERE = Path(__file__).parent
#: Entries of the archive get one date, so that the same cube gives the same bytes.
DATE = (2026, 1, 1, 0, 0, 0)


def tables() -> dict[str, Table]:
    """Return two small tables, with and without labels."""
    rng = np.random.default_rng(7)
    classes = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 4)) + 3 * np.eye(3, 4)[classes]
    return {
        "labelled": Table(X, ("a", "b", "c", "d"), classes, ("x", "y", "z")),
        "unlabelled": Table(X[:, :3], ("a", "b", "c")),
    }


def sweep(p1: list[float], normalisations: list[str]) -> Sweep:
    """Return the sweep with some exponents."""
    data = tables()
    facts = {name: MatrixFacts.of(table, 3) for name, table in data.items()}
    synthetic = {"configs": ["1000x6-3", "1000x6-3 WCN"], "count": 2}
    spec = SweepSpec(
        datasets={"synthetic": synthetic, "matrices": facts},
        normalisations=normalisations,
        restarts=4,
        p1=p1,
        p2=[1.5, 3.0],
    )
    return Sweep(spec, {table.sha256: table for table in data.values()})


def make(folder: Path) -> None:
    """Fill a cube, extend it, and let one tile fail."""
    first, larger = sweep([1.4, 2.0], ["range"]), sweep([1.1, 1.4, 2.0], ["range", "z-score"])
    submit(first, folder, workers=0)
    extend_cube(folder, larger.spec, larger.tables)
    submit(larger, folder, workers=0)
    tile = larger.spec.tiles[-1]
    mark_missing(folder, [tile])
    mark_failed(folder, tile, "the worker died")


def pack(folder: Path, archive: Path) -> None:
    """Write all files of a cube to a zip archive."""
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                entry = zipfile.ZipInfo(path.relative_to(folder.parent).as_posix(), DATE)
                packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)


def _plain(dtype: np.dtype) -> str:
    """Return a type that an .npz file can hold: texts have no fixed length in a cube."""
    return "U" if dtype.kind in "OT" else dtype.str


def main() -> None:
    """Write the cube, and all its arrays as plain xarray reads them."""
    with TemporaryDirectory() as temporary:
        folder = Path(temporary) / "cube-0.1.0.zarr"
        make(folder)
        pack(folder, HERE / "cube.zip")
        stored = xr.open_zarr(folder, chunks=None).load()
        arrays = {
            str(name): np.array(values.values.tolist(), dtype=_plain(values.dtype))
            for name, values in stored.variables.items()
        }
        np.savez_compressed(HERE / "values.npz", **arrays)


if __name__ == "__main__":
    main()
