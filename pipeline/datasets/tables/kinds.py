"""The kinds of files, by the ending of their names, and what reads each of them."""

from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path

from pipeline.datasets.tables.arff import read_arff
from pipeline.datasets.tables.battery_files import MATRIX, read_battery
from pipeline.datasets.tables.columnar import read_npz, read_parquet
from pipeline.datasets.tables.columns import Columns
from pipeline.datasets.tables.delimited import read_delimited
from pipeline.datasets.tables.matlab import read_mat
from pipeline.datasets.tables.packed import PACKED, open_packed
from pipeline.errors import TableError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
ARFF = ".arff"
#: Files of text, which may be packed.
TEXTS = (*SEPARATORS, MATRIX, ARFF)
#: Files of typed values.
TYPED = (".parquet", ".npz", ".mat")
ENDINGS = (*TEXTS, *(f"{ending}{PACKED}" for ending in TEXTS), *TYPED)

#: Reads a file, given the columns to read as text and those not to read.
Reader = Callable[[Path, Collection[str], Collection[str]], Columns]


def ending_of(path: Path) -> str:
    """Return the ending that tells the kind of a file, in lower case; empty if it is unknown.

    Examples
    --------
    >>> ending_of(Path("my.CSV.gz")), ending_of(Path("my.v2.npz")), ending_of(Path("my.gz"))
    ('.csv.gz', '.npz', '')
    """
    name = path.name.lower()
    return max((ending for ending in ENDINGS if name.endswith(ending)), key=len, default="")


def name_of(path: Path) -> str:
    """Return the name of a file without its ending.

    Examples
    --------
    >>> name_of(Path("data/my.csv.gz")), name_of(Path("my.v2.npz"))
    ('my', 'my.v2')
    """
    ending = ending_of(path)
    return path.name[: -len(ending)] if ending else path.stem


def read_columns(
    path: Path, header: bool, texts: Collection[str], ignore: Collection[str]
) -> Columns:
    """Read the columns of a file of any kind."""
    if "\0" in str(path):
        raise TableError(repr(str(path)), "has a null character in its name. Correct the name.")
    ending = ending_of(path)
    if not ending:
        raise TableError(
            str(path),
            f"is of an unknown kind. Give a file that ends in {', '.join((*TYPED, *TEXTS))}. Files "
            f"of text may be packed: {TEXTS[0]}{PACKED}.",
        )
    return _reader(path, ending.removesuffix(PACKED), header)(path, texts, ignore)


def _reader(path: Path, kind: str, header: bool) -> Reader:
    if kind in SEPARATORS:
        return partial(_read_separated, SEPARATORS[kind], header)
    if not header and kind != MATRIX:
        raise TableError(
            str(path),
            "header = false applies to .csv and .tsv files; the columns of other files are named "
            "otherwise. Leave it out.",
        )
    readers: dict[str, Reader] = {
        MATRIX: read_battery,
        ARFF: _read_arff,
        ".npz": read_npz,
        ".parquet": read_parquet,
        ".mat": read_mat,
    }
    return readers[kind]


def _read_separated(
    separator: str, header: bool, path: Path, texts: Collection[str], ignore: Collection[str]
) -> Columns:
    return read_delimited(
        str(path),
        lambda: open_packed(path),
        separator,
        header=header,
        texts=texts,
        ignore=ignore,
    )


def _read_arff(path: Path, texts: Collection[str], ignore: Collection[str]) -> Columns:
    return read_arff(str(path), lambda: open_packed(path), texts, ignore)
