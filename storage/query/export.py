"""A cube as tidy rows, one for each value, in one CSV or Parquet file; written piece by piece."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import product
from os import PathLike
from pathlib import Path

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from pipeline.files import replacing
from storage.backends.location import CubeLocation
from storage.cube import open_cube
from storage.errors import CubeError, storage_errors
from storage.layout.schema import ALL_RESULTS, TILE_DIMS

#: The columns of an export, in order; exponents and restarts are empty where a value has none.
COLUMNS = (*TILE_DIMS, "variable", "p1", "p2", "restart", "value")
#: Rows that are made at once, unless one data set has more.
MOST_ROWS = 200_000

Write = Callable[[pd.DataFrame], None]


def export_cube(location: CubeLocation, out: str | PathLike[str]) -> int:
    """Write all results of a cube as tidy rows.

    Parameters
    ----------
    location : path
        An existing cube; what is done of it is exported.
    out : path
        A file to make or replace; it ends in ``.csv`` or ``.parquet``.

    Returns
    -------
    int
        The number of rows.

    Raises
    ------
    CubeError
        If the file's ending is another, it cannot be written, or the cube is damaged.

    Notes
    -----
    Never more than one variable of one configuration is in memory, and few of its rows. The file is
    written beside its place and renamed, so that it is whole or not there.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pipeline.execution.block import run_tile
    >>> from pipeline.spec import SweepSpec
    >>> from storage import create_cube, write_tile
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
    writer = _WRITERS.get(path.suffix.lower())
    if writer is None:
        raise CubeError(f"Cannot export to {out}: give a name that ends in .csv or .parquet.")
    cube = open_cube(location)
    rows = 0
    doing = storage_errors(f"export {location} to {out}")
    with doing, replacing(path) as beside, writer(beside) as write:
        for piece in tidy_pieces(cube):
            write(piece)
            rows += len(piece)
    return rows


def tidy_pieces(cube: xr.Dataset) -> Iterator[pd.DataFrame]:
    """Yield the rows of an opened cube, those of some data sets in one variable at a time.

    Examples
    --------
    >>> coords = {"config": ["Iris"], "dataset": [0], "normalisation": ["range"], "p1": [1.4, 2.0]}
    >>> values = xr.DataArray([[[[0.5, np.nan]]]], coords)
    >>> next(tidy_pieces(values.to_dataset(name="imwk_ari"))).iloc[0].to_dict()["value"]
    0.5
    """
    names = [name for name in ALL_RESULTS if name in cube]
    for place, name in product(range(cube.sizes["config"]), names):
        values = cube[name].isel(config=[place]).compute()
        stretch = max(1, MOST_ROWS * values.sizes["dataset"] // max(1, values.size))
        for start in range(0, values.sizes["dataset"], stretch):
            piece = _rows(values.isel(dataset=slice(start, start + stretch)))
            if len(piece):
                yield piece


def _rows(values: xr.DataArray) -> pd.DataFrame:
    places = dict(zip(values.dims, np.nonzero(values.notnull().values), strict=True))
    length = len(places["config"])
    name = pd.Categorical.from_codes(np.zeros(length, np.int8), [str(values.name)])
    columns = {dim: _labels(values[dim], place) for dim, place in places.items()}
    columns |= {"variable": name, "value": values.values[tuple(places.values())]}
    rows = pd.DataFrame(columns).reindex(columns=list(COLUMNS))
    return rows.astype({"p1": "float64", "p2": "float64", "restart": "Int32"})


def _labels(coordinate: xr.DataArray, places: NDArray[np.intp]) -> object:
    """Return a column of labels; names as codes: millions of strings would fill the memory."""
    if coordinate.dtype.kind in "fi":
        return coordinate.values[places]
    return pd.Categorical.from_codes(places, coordinate.values.tolist())


@contextmanager
def _csv(path: Path) -> Iterator[Write]:
    with path.open("w", encoding="utf-8", newline="") as file:
        pd.DataFrame(columns=list(COLUMNS)).to_csv(file, index=False)
        yield lambda rows: rows.to_csv(file, index=False, header=False, lineterminator="\n")


@contextmanager
def _parquet(path: Path) -> Iterator[Write]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise CubeError(
            "Parquet needs pyarrow: pip install 'imwk-sweep[parquet]'. Or export to .csv."
        ) from error
    text, number = pa.string(), pa.float64()
    types = (text, pa.int32(), text, text, number, number, pa.int32(), number)
    schema = pa.schema(list(zip(COLUMNS, types, strict=True)))
    with pq.ParquetWriter(path, schema, compression="zstd") as file:
        yield lambda rows: file.write_table(
            pa.Table.from_pandas(rows, schema=schema, preserve_index=False)
        )


_WRITERS = {".csv": _csv, ".parquet": _parquet}
