"""Read files that store typed columns: Parquet, and NumPy's ``.npz``."""

import zipfile
import zlib
from collections.abc import Collection
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.arrays import columns_from_arrays
from pipeline.datasets.tables.columns import (
    Columns,
    default_names,
    refuse_repeated,
    refuse_too_large,
)
from pipeline.errors import TableError

#: Names of arrays with a fixed meaning in an ``.npz`` file.
MATRIX, NAMES = "X", "feature_names"
#: Exceptions that NumPy raises for a file that is not an ``.npz`` file, or is damaged.
DAMAGED = (
    ValueError,
    EOFError,
    KeyError,
    RuntimeError,
    MemoryError,
    zipfile.BadZipFile,
    zlib.error,
)


def read_npz(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    """Read ``X``, and ``feature_names`` if it is there. Any other array can be the label.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/my.npz", X=[[1.5], [2.5]], y=["a", "b"])
    ...     read = read_npz(Path(folder) / "my.npz", texts=["y"], ignore=[])
    >>> read.columns["x1"].values.tolist(), read.columns["y"].categories
    ([1.5, 2.5], ('a', 'b'))
    """
    source = str(path)
    try:
        with path.open("rb") as file, _loaded(file) as arrays:
            X = _array(source, arrays, MATRIX, 2)
            rows, width = X.shape
            refuse_too_large(source, rows, width)
            names = _names(source, arrays, width)
            labels = {name: _labels(source, arrays, name, rows) for name in arrays if name in texts}
    except TableError:  # is a ValueError too
        raise
    except OSError as error:
        raise TableError(source, f"cannot be read: {error.strerror or error}.") from error
    except DAMAGED as error:
        raise TableError(source, f"is not a usable .npz file: {error}") from error
    columns = dict(zip(names, X.T, strict=True)) | labels
    wanted = [item for item in columns.items() if item[0] not in ignore]
    return columns_from_arrays(source, columns, rows, wanted, texts)


def _loaded(file: BinaryIO) -> Any:
    arrays = np.load(file, allow_pickle=False)
    if isinstance(arrays, np.ndarray):
        raise ValueError("it is a single array. Save it with np.savez(file, X=array).")
    return arrays


def _array(source: str, arrays: Any, name: str, dims: int) -> NDArray[Any]:
    if name not in arrays:
        raise TableError(source, f"has no array {name!r}, only: {', '.join(arrays) or 'none'}.")
    array: NDArray[Any] = arrays[name]
    if array.ndim != dims:
        raise TableError(source, f"its array {name!r} has {array.ndim} dimensions, not {dims}.")
    return array


def _labels(source: str, arrays: Any, name: str, rows: int) -> NDArray[Any]:
    labels = _array(source, arrays, name, 1)
    if len(labels) != rows:
        raise TableError(source, f"its array {name!r} has {len(labels)} rows, X has {rows}.")
    return labels


def _names(source: str, arrays: Any, width: int) -> list[str]:
    if NAMES not in arrays:
        return default_names(width)
    names = list(map(str, _array(source, arrays, NAMES, 1).tolist()))
    if len(names) != width:
        raise TableError(source, f"has {width} columns, but {len(names)} {NAMES}.")
    refuse_repeated(source, names)
    return names


def read_parquet(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    """Read the columns of a Parquet file. Needs pyarrow."""
    source = str(path)
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError as error:
        raise TableError(
            source, "needs pyarrow: pip install 'imwk-sweep[parquet]'. Or give a .csv file."
        ) from error
    try:
        with pq.ParquetFile(path) as file:
            names, rows = file.schema_arrow.names, file.metadata.num_rows
            refuse_repeated(source, names)
            wanted = [name for name in names if name not in ignore]
            refuse_too_large(source, rows, len(wanted))
            arrays = ((name, _from_arrow(source, name, file.read([name]))) for name in wanted)
            return columns_from_arrays(source, names, rows, arrays, texts)
    except (OSError, pa.ArrowException) as error:
        raise TableError(source, f"cannot be read: {error}") from error


def _from_arrow(source: str, name: str, table: Any) -> NDArray[Any]:
    """Return numbers with NaN, or texts with None, for missing values."""
    import pyarrow.types as kinds

    column = table.column(0)
    kind = column.type.value_type if kinds.is_dictionary(column.type) else column.type
    if any(
        is_one(kind)
        for is_one in (kinds.is_floating, kinds.is_integer, kinds.is_decimal, kinds.is_null)
    ):
        return np.asarray(column.cast("float64").to_pandas(), dtype=np.float64)
    if any(is_one(kind) for is_one in (kinds.is_boolean, kinds.is_string, kinds.is_large_string)):
        return np.array(column.to_pylist(), dtype=object)
    raise TableError(
        source,
        f"column {name!r} is of type {column.type}. Ignore it, or convert it to numbers or text.",
    )
