"""Read MATLAB files of version 5, which MATLAB calls v6 and v7. Needs SciPy."""

import struct
import warnings
import zlib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.arrays import columns_from_arrays
from pipeline.datasets.tables.columns import Columns, default_names, refuse_too_large
from pipeline.datasets.tables.packed import MOST_BYTES
from pipeline.errors import TableError

#: Names of the variable with the matrix, in any case.
MATRICES = ("x", "data")
#: Bytes of the header, and where the version and the byte order are in it.
HEADER, VERSION = 128, slice(124, 128)
#: The version and the byte order: version 1, written on a little or a big endian machine.
BYTE_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
#: The version of files that are HDF5.
HDF5 = (b"\x00\x02IM", b"\x02\x00MI")
#: The type of an element that is packed by zlib.
PACKED = 15
#: Bytes that are unpacked at once.
CHUNK = 1 << 20
SAVE_AGAIN = "Save it again in MATLAB with save('my.mat', 'X', 'y', '-v7'), or as a .csv file."


def read_mat(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    """Read the matrix ``X`` or ``Data``. Any vector of the same length can be the label.

    Parameters
    ----------
    path : Path
        A file of MATLAB's version v6 or v7. Those of v7.3, which are HDF5, are refused.
    texts, ignore : collection of str
        Columns to read as text even if they are numbers, and columns not to read. Columns are
        named x1, x2 and so on.

    Raises
    ------
    TableError
        If the file is damaged or of another version, or has no such matrix.
    """
    source = str(path)
    try:
        from scipy.io import loadmat, whosmat
    except ImportError as error:
        raise TableError(
            source, "needs SciPy: pip install 'imwk-sweep[mat]'. Or give a .csv file."
        ) from error
    try:
        with path.open("rb") as file:
            _refuse_unfit(source, file)
            shapes = {name: shape for name, shape, _ in whosmat(file)}
            name = _matrix_name(source, shapes)
            file.seek(0)
            wanted = [name, *(each for each in shapes if each in texts)]
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # about variables that are not used
                found = loadmat(file, variable_names=wanted)
    except TableError:
        raise
    except OSError as error:
        raise TableError(source, f"cannot be read: {error.strerror or error}.") from error
    except Exception as error:  # SciPy raises almost any exception on a damaged file
        raise TableError(source, f"is not a usable MATLAB file: {error}. {SAVE_AGAIN}") from error
    return _columns(source, name, found, texts, ignore)


def _refuse_unfit(source: str, file: BinaryIO) -> None:
    """Refuse other versions, and files whose packed variables would fill the memory."""
    mark = file.read(HEADER)[VERSION]
    if mark in HDF5:
        raise TableError(source, f"is a MATLAB file of version v7.3 (HDF5). {SAVE_AGAIN}")
    if mark not in BYTE_ORDERS:
        raise TableError(source, f"is not a MATLAB file of version v6 or v7. {SAVE_AGAIN}")
    unpacked = 0
    for kind, content in _elements(source, file, BYTE_ORDERS[mark]):
        unpacked += _unpacked_size(content) if kind == PACKED else len(content)
        if unpacked > MOST_BYTES:
            raise TableError(
                source,
                f"unpacks to more than {MOST_BYTES:,} bytes, the maximum for one table. Sample "
                "the rows, or leave out columns.",
            )
    file.seek(0)


def _elements(source: str, file: BinaryIO, order: str) -> Iterator[tuple[int, bytes]]:
    """Yield the type and content of every variable in the file."""
    while tag := file.read(8):
        kind, size = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, 0)
        content = file.read(min(size, MOST_BYTES + 1))
        if len(tag) < 8 or len(content) < min(size, MOST_BYTES + 1):
            raise TableError(source, f"ends in the middle of a variable. {SAVE_AGAIN}")
        yield kind, content


def _unpacked_size(content: bytes) -> int:
    """Return the number of unpacked bytes, or a number above the limit."""
    unpack, size, rest = zlib.decompressobj(), 0, content
    while rest and size <= MOST_BYTES:
        size += len(unpack.decompress(rest, CHUNK))
        rest = unpack.unconsumed_tail
    return size


def _matrix_name(source: str, shapes: dict[str, tuple[int, ...]]) -> str:
    names = [name for name in shapes if name.lower() in MATRICES]
    if len(names) != 1:
        listed = ", ".join(shapes) or "none"
        raise TableError(
            source,
            f"needs one variable with the matrix, named X or Data; its variables: {listed}. "
            "Rename the matrix, and save the file again.",
        )
    shape = shapes[names[0]]
    if len(shape) != 2:
        raise TableError(source, f"its variable {names[0]!r} has {len(shape)} dimensions, not 2.")
    refuse_too_large(source, *shape)
    return names[0]


def _columns(
    source: str,
    name: str,
    found: dict[str, Any],
    texts: Collection[str],
    ignore: Collection[str],
) -> Columns:
    X = _numbers(source, name, found.get(name))
    rows, width = X.shape
    labels = {
        each: _vector(source, each, values, rows)
        for each, values in found.items()
        if each in texts and each != name
    }
    columns = dict(zip(default_names(width), X.T, strict=True)) | labels
    wanted = [item for item in columns.items() if item[0] not in ignore]
    return columns_from_arrays(source, columns, rows, wanted, texts)


def _numbers(source: str, name: str, values: Any) -> NDArray[Any]:
    if not isinstance(values, np.ndarray) or values.dtype.kind not in "fiub" or values.ndim != 2:
        raise TableError(
            source,
            f"its variable {name!r} is not a full matrix of real numbers. Convert it with "
            f"full(double({name})), and save the file again.",
        )
    refuse_too_large(source, *values.shape)
    return values


def _vector(source: str, name: str, values: Any, rows: int) -> NDArray[Any]:
    """Return labels: numbers, or texts in a cell array."""
    array = np.asarray(values)
    if array.size != rows or array.dtype.kind not in "fiubUO":
        raise TableError(
            source,
            f"its variable {name!r} has the size {array.shape}, not {rows} x 1. Give one label "
            "for each row.",
        )
    return np.array([_label(source, name, item) for item in array.ravel().tolist()])


def _label(source: str, name: str, item: Any) -> Any:
    """Return a label, which is in an array of its own if it comes from a cell array."""
    value = item.item() if isinstance(item, np.ndarray) and item.size == 1 else item
    if isinstance(value, np.ndarray) or not isinstance(value, str | int | float):
        raise TableError(
            source, f"its variable {name!r} holds other values than numbers and texts."
        )
    return value
