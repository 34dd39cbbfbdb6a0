"""Open text files, packed by gzip or not. What is unpacked is limited."""

import gzip
import io
from pathlib import Path
from typing import Any, BinaryIO

from pipeline.datasets.tables.columns import MOST_CELLS
from pipeline.errors import TableError

#: The ending of packed files.
PACKED = ".gz"
#: Bytes of a cell: a number with all its digits and a separator.
BYTES_PER_CELL = 25
#: Unpacked bytes above which a file is refused: a small file may unpack to terabytes.
MOST_BYTES = MOST_CELLS * BYTES_PER_CELL


def open_packed(path: Path) -> BinaryIO:
    r"""Open a file for reading; unpack it on the way if its name ends in ``.gz``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "my.csv.gz"
    ...     _ = path.write_bytes(gzip.compress(b"size\n1\n"))
    ...     with open_packed(path) as file:
    ...         file.read()
    b'size\n1\n'
    """
    if path.suffix.lower() != PACKED:
        return path.open("rb")
    return io.BufferedReader(_Unpacked(path))


class _Unpacked(io.RawIOBase):
    """The unpacked bytes of a file, up to a limit."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = gzip.GzipFile(path, "rb")

    def readable(self) -> bool:
        """Return whether the file can be read: it can."""
        return True

    def seekable(self) -> bool:
        """Return whether the file can be read again from its beginning: it can."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Read bytes into a buffer, and return their number."""
        count = self._file.readinto(buffer)
        if self._file.tell() > MOST_BYTES:
            raise TableError(
                str(self._path),
                f"unpacks to more than {MOST_BYTES:,} bytes, the maximum for one table. Sample "
                "the rows, or leave out columns.",
            )
        return count

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to another place in the file."""
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        """Return the place in the file."""
        return self._file.tell()

    def close(self) -> None:
        """Close the packed file."""
        self._file.close()
        super().close()
