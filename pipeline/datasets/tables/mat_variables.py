"""The variables of a MATLAB file of version 5, which MATLAB calls v6 and v7.

SciPy is not used here, because damaged files make its reader crash the process. All that a table
needs is in the open part of the format: arrays of numbers, texts, and cells that hold them.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pipeline.datasets.tables.columns import MOST_CELLS

#: All variables together: the largest matrix, of 8 bytes per cell, and its labels.
MOST_BYTES = 10 * MOST_CELLS
#: Bytes of the header, and the place of version and byte order in it.
HEADER, MARK = 128, slice(124, 128)
#: The mark of version 1, on a little and on a big endian machine.
BYTE_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}
#: The types of stored elements: numbers as in NumPy, texts as their encodings.
NUMBERS = {
    1: "i1",
    2: "u1",
    3: "i2",
    4: "u2",
    5: "i4",
    6: "u4",
    7: "f4",
    9: "f8",
    12: "i8",
    13: "u8",
}
ENCODINGS = {1: "ascii", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16"}
ARRAY, PACKED = 14, 15
#: The classes of variables: cells, texts, and all kinds of numbers.
CELL, TEXT, NUMERIC = 1, 4, range(6, 16)
#: The bit of complex numbers among the flags of an array.
COMPLEX = 0x800
#: Bytes that are unpacked at once.
CHUNK = 1 << 20


class MatError(ValueError):
    """A MATLAB file is damaged, or has something that cannot be read."""


@dataclass(frozen=True, eq=False)
class Variable:
    """A variable of the file, whose values are read when they are asked for.

    Attributes
    ----------
    name : str
        Its name. Empty in a cell.
    shape : tuple of int
        Its dimensions, at least two.
    kind : int
        Its class in MATLAB.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    is_complex: bool
    _order: str
    _content: memoryview

    def numbers(self) -> NDArray[Any]:
        """Return the values of an array of real numbers."""
        if self.kind not in NUMERIC or self.is_complex:
            raise MatError(f"{self.name!r} is not a full array of real numbers")
        stored, content, _ = _element(self._content, 0, self._order)
        if stored not in NUMBERS:
            raise MatError(f"{self.name!r} has the unknown type {stored}")
        number = np.dtype(f"{self._order}{NUMBERS[stored]}")
        if len(content) != prod(self.shape) * number.itemsize:
            raise MatError(f"{self.name!r} does not have the size {self.shape}")
        return np.frombuffer(content, dtype=number).reshape(self.shape, order="F")

    def items(self) -> list[Any]:
        """Return the values in MATLAB's order: numbers, the texts in cells, or rows of texts."""
        if self.kind == TEXT:
            return self._rows_of_text()
        if self.kind != CELL:
            return list(self.numbers().ravel(order="F").tolist())
        return [cell for each in self._cells() for cell in (each.items() or [""])]

    def _cells(self) -> Iterator["Variable"]:
        place = 0
        for _ in range(prod(self.shape)):
            stored, content, place = _element(self._content, place, self._order)
            cell = _variable(stored, content, self._order)
            if cell.kind == CELL:  # one of many levels would exceed Python's stack
                raise MatError(f"{self.name!r} has cells in cells")
            yield cell

    def _rows_of_text(self) -> list[str]:
        stored, content, _ = _element(self._content, 0, self._order)
        if stored not in ENCODINGS:
            raise MatError(f"{self.name!r} has the unknown type {stored}")
        encoding = ENCODINGS[stored]
        if encoding == "utf-16":
            encoding = "utf-16-le" if self._order == "<" else "utf-16-be"
        text, rows = bytes(content).decode(encoding), self.shape[0]
        if len(text) != prod(self.shape):
            raise MatError(f"{self.name!r} has {len(text)} characters, not {prod(self.shape)}")
        return [text[row::rows].strip() for row in range(rows)] if text else []


def read_variables(file: BinaryIO) -> Iterator[Variable]:
    """Yield all variables of a file, whose header must be that of version 5.

    Raises
    ------
    MatError
        If the file is damaged, or unpacks to too much.
    """
    order = BYTE_ORDERS[file.read(HEADER)[MARK]]
    left = MOST_BYTES
    while tag := file.read(8):
        stored, content = _stored(tag, order, file, left)
        whole = memoryview(content)
        if stored == PACKED:
            content = _unpacked(content, left)
            stored, whole, _ = _element(memoryview(content), 0, order)
        left -= len(content)
        yield _variable(stored, whole, order)


def _stored(tag: bytes, order: str, file: BinaryIO, most: int) -> tuple[int, bytes]:
    """Return the type and the content of an element of the file."""
    stored, length = struct.unpack(f"{order}II", tag) if len(tag) == 8 else (0, 1)
    _refuse_larger(length, most)
    content = file.read(length)
    if len(content) < length:
        raise MatError("the file is cut off")
    return stored, content


def _unpacked(content: bytes, most: int) -> bytes:
    unpack, parts, size, rest = zlib.decompressobj(), list[bytes](), 0, content
    try:
        while rest:
            parts.append(unpack.decompress(rest, CHUNK))
            size += len(parts[-1])
            _refuse_larger(size, most)
            rest = unpack.unconsumed_tail
    except zlib.error as error:
        raise MatError(f"a variable cannot be unpacked: {error}") from error
    return b"".join(parts)


def _refuse_larger(size: int, most: int) -> None:
    if size > most:
        raise MatError(f"its variables have more than {MOST_BYTES:,} bytes")


def _element(content: memoryview, start: int, order: str) -> tuple[int, memoryview, int]:
    """Return the type and the content of an element, and where the next one begins."""
    if start + 8 > len(content):
        raise MatError("a variable is cut off")
    stored, size = struct.unpack_from(f"{order}II", content, start)
    begin, end = start + 8, start + 8 + size + -size % 8
    if stored >> 16:  # up to four bytes are in the tag itself
        stored, size = stored & 0xFFFF, stored >> 16
        begin, end = start + 4, start + 8
    if begin + size > min(end, len(content)):
        raise MatError("a variable is cut off")
    return stored, content[begin : begin + size], end


def _variable(stored: int, content: memoryview, order: str) -> Variable:
    """Return a variable: its flags, its dimensions, its name, and its values, yet unread."""
    if stored != ARRAY:
        raise MatError(f"there is an element of the unknown type {stored}")
    _, flags, place = _element(content, 0, order)
    _, dims, place = _element(content, place, order)
    _, name, place = _element(content, place, order)
    if len(flags) < 8 or len(dims) < 8 or len(dims) % 4:
        raise MatError("a variable has no dimensions")
    (flag,) = struct.unpack_from(f"{order}I", flags)
    shape = tuple(np.frombuffer(dims, dtype=f"{order}i4").tolist())
    if min(shape) < 0:
        raise MatError("a variable has negative dimensions")
    text = bytes(name).decode("ascii", "replace")
    return Variable(text, shape, flag & 0xFF, bool(flag & COMPLEX), order, content[place:])
