"""Export a cube to a CSV or Parquet file with one row for each value."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib.util import find_spec
from itertools import product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.core.errors import InvalidInputError
from pipeline.errors import OutputError
from pipeline.files import output_errors, replacing
from storage.backends.location import CubeLocation
from storage.layout.schema import TILE_DIMS
from storage.opening import open_cube
from storage.query.selection import described

#: The columns of an export; exponents and restarts are empty where a value does not have them.
COLUMNS = (*TILE_DIMS, "variable", "p1", "p2", "restart", "value")
#: Rows that are in memory at once, unless a single data set has more.
MOST_ROWS = 200_000

Write = Callable[[pd.DataFrame], None]


def export_cube(location: CubeLocation, out: str | PathLike[str]) -> int:
    """Write all results of a cube as tidy rows.

    Parameters
    ----------
    location : path or URL
        An existing cube; the tiles that are done are exported.
    out : path
        A file to create or replace; its name ends in ``.csv`` or ``.parquet``.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    InvalidInputError
        If the file's name has another ending.
    OutputError
        If the file cannot be written.
    DamagedCubeError
        If the cube is damaged.

    Notes
    -----
    At most one variable of one configuration is in memory, and a few of its rows. The file is
    replaced atomically.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube
    >>> from storage.tiles import write_tile
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], parts=["imwk"], p1=[1.5, 2])
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     write_tile(f"{folder}/cube.zarr", spec.tiles[0], [run_tile(spec, spec.tiles[0])])
    ...     rows = export_cube(f"{folder}/cube.zarr", f"{folder}/cube.csv")
    ...     lines = Path(f"{folder}/cube.csv").read_text().splitlines()
    >>> rows, lines[0]
    (6, 'config,dataset,normalisation,variable,p1,p2,restart,value')
    >>> lines[-1]
    '1000x6-3,0,range,imwk_clusters,2.0,,,3.0'
    """
    path = Path(out)
    writer = _writer(path)
    cube = open_cube(location)
    rows = 0
    with output_errors(path), replacing(path) as beside, writer(beside) as write:
        for piece in tidy_pieces(cube):
            write(piece)
            rows += len(piece)
    return rows


def tidy_pieces(cube: xr.Dataset) -> Iterator[pd.DataFrame]:
    """Yield the rows of an open cube, for some data sets of one variable at a time.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> values = xr.DataArray([[[[0.5, np.nan]]]], coords)
    >>> next(tidy_pieces(values.to_dataset(name="imwk_ari"))).iloc[0].to_dict()["value"]
    0.5
    """
    names = [name for name in described(cube) if name in cube]
    for position, name in product(range(cube.sizes["config"]), names):
        values = cube[name].isel(config=[position]).compute()
        length = max(1, MOST_ROWS * values.sizes["dataset"] // max(1, values.size))
        for start in range(0, values.sizes["dataset"], length):
            piece = _rows(values.isel(dataset=slice(start, start + length)))
            if len(piece):
                yield piece


def _writer(path: Path) -> Callable[[Path], AbstractContextManager[Write]]:
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise InvalidInputError(
            f"Cannot export to {path}: give a name that ends in .csv or .parquet."
        )
    if writer is _parquet and find_spec("pyarrow") is None:
        raise OutputError(
            "Parquet files need pyarrow: pip install 'imwk-sweep[parquet]'. Or export to .csv."
        )
    return writer


def _rows(values: xr.DataArray) -> pd.DataFrame:
    positions = dict(zip(values.dims, np.nonzero(values.notnull().values), strict=True))
    length = len(positions["config"])
    name = pd.Categorical.from_codes(np.zeros(length, np.int8), [str(values.name)])
    columns = {dim: _labels(values[dim], positions[dim]) for dim in positions}
    columns |= {"variable": name, "value": values.values[tuple(positions.values())]}
    rows = pd.DataFrame(columns).reindex(columns=list(COLUMNS))
    return rows.astype({"p1": "float64", "p2": "float64", "restart": "Int32"})


def _labels(coordinate: xr.DataArray, positions: NDArray[np.intp]) -> object:
    """Return a column of labels; names as codes, because millions of strings need much memory."""
    if coordinate.dtype.kind in "fi":
        return coordinate.values[positions]
    return pd.Categorical.from_codes(positions, coordinate.values.tolist())


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        pd.DataFrame(columns=list(COLUMNS)).to_csv(file, index=False)
        yield lambda rows: rows.to_csv(file, index=False, header=False, lineterminator="\n")


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    text, number = pa.string(), pa.float64()
    types = (text, pa.int32(), text, text, number, number, pa.int32(), number)
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        yield lambda rows: file.write_table(
            pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
        )


_WRITERS = {".csv": _csv, ".parquet": _parquet}
