"""The cache of raw files of real data sets on this machine. Files are identified by their hash."""

import gzip
import hashlib
import os
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath

from pipeline.datasets.tables.table import Table
from pipeline.datasets.uci.catalogue import UciSet, uci_set, uci_sets
from pipeline.errors import MissingDataError, TableError
from pipeline.files import replace_file

#: Environment variable that overrides the cache folder.
FOLDER_VARIABLE = "IMWK_DATA"
#: Size in bytes above which files are skipped. The largest raw file has 329 kB.
LARGEST_FILE = 5_000_000
#: Exceptions that unpacking a damaged or encrypted file may raise.
CANNOT_UNPACK = (zipfile.BadZipFile, OSError, EOFError, zlib.error, RuntimeError, ValueError)


@dataclass
class ImportReport:
    """The result of an import.

    Attributes
    ----------
    sets : dict of str to str
        The file of each data set that was found, by the paper's name.
    refused : dict of str to str
        Files with the name but not the content of a data set, and the reason.
    skipped : list of str
        All other files.
    """

    sets: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def cache_folder() -> Path:
    """Return the folder of raw files: ``IMWK_DATA``, or a folder in the user's cache folder."""
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        return Path(folder)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "imwk-sweep"


def cached_file(entry: UciSet) -> Path:
    """Return the path of a data set's raw file in the cache, whether it exists or not."""
    return cache_folder() / entry.files[0]


def load_uci(names: Iterable[str]) -> dict[str, Table]:
    """Return real data sets from the cache, by the paper's name.

    Parameters
    ----------
    names : iterable of str
        Names in the paper, or short names.

    Returns
    -------
    dict of str to Table
        The encoded data sets.

    Raises
    ------
    MissingDataError
        If some are not in the cache. The message names all of them and says what to do.

    Examples
    --------
    >>> load_uci(["Irish"])
    Traceback (most recent call last):
    pipeline.core.errors.InvalidInputError: Unknown real data set 'Irish'. Did you mean 'Iris'? \
Known: Australian CC, Balance, Breast cancer, Car evaluation, Mines vs rocks, Ecoli, Glass, Heart, \
Ionosphere, Iris, Lung cancer, Musk, Parkinsons, Soya, Teaching assistant, Tic-tac-toe, Wine, Zoo.
    """
    entries = [uci_set(name) for name in names]
    missing = [entry.name for entry in entries if not cached_file(entry).is_file()]
    if missing:
        sets = "real data set is" if len(missing) == 1 else "real data sets are"
        raise MissingDataError(
            f"{len(missing)} {sets} not on this machine: {', '.join(missing)}. "
            "Download them with imwk datasets fetch, or import files that you have with imwk "
            "datasets import DIR; or use only data sets that imwk datasets list shows as present."
        )
    return {entry.name: _load(entry) for entry in entries}


def _load(entry: UciSet) -> Table:
    path = cached_file(entry)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise TableError(str(path), f"cannot be read: {error.strerror}.") from error
    table = entry.encode(content, str(path))
    if not _is_genuine(entry, content, table):
        raise TableError(
            str(path), f"was changed: {_hashes(entry, content, table)} Import it again."
        )
    return table


def import_files(path: Path, except_for: Collection[Path] = ()) -> ImportReport:
    """Copy raw files into the cache. They are identified by their content, not by their names.

    Parameters
    ----------
    path : Path
        A file, or a folder that is searched recursively. Files in zip and gz archives are found,
        too.
    except_for : collection of Path
        Files to leave out.

    Returns
    -------
    ImportReport
        The data sets that were found. Files with the name but not the content of a data set are
        refused, all others skipped.

    Raises
    ------
    MissingDataError
        If the file or folder does not exist.
    """
    if not path.exists():
        raise MissingDataError(
            f"There is no file or folder {path}. Give a file or folder with raw files."
        )
    files = sorted(path.rglob("*")) if path.is_dir() else [path]
    report = ImportReport()
    for file in files:
        if file.is_file() and file not in except_for:
            _import_file(report, str(file), file)
    return report


def _import_file(report: ImportReport, source: str, file: Path) -> None:
    if file.stat().st_size > LARGEST_FILE:
        report.skipped.append(source)
        return
    try:
        for name, content in unpacked(source, file.read_bytes()):
            import_content(report, name, content)
    except CANNOT_UNPACK:
        report.skipped.append(source)


def import_content(report: ImportReport, source: str, content: bytes) -> None:
    """Write a raw file to the cache if it is one of the data sets, and add it to the report."""
    entry = _identified(content, source)
    if entry is not None:
        _write(entry, content)
        report.sets[entry.name] = source
        return
    for entry in uci_sets().values():
        if PurePosixPath(source.replace(os.sep, "/")).name.removesuffix(".gz") in entry.files:
            report.refused[source] = _mismatch(entry, content, source)
            return
    report.skipped.append(source)


def unpacked(source: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the name and content of a file, or of the files in an archive."""
    if content.startswith(b"PK\x03\x04"):
        with zipfile.ZipFile(BytesIO(content)) as archive:
            for member in archive.infolist():
                if not member.is_dir() and member.file_size <= LARGEST_FILE:
                    yield from unpacked(f"{source}/{member.filename}", archive.read(member))
    elif content.startswith(b"\x1f\x8b"):
        with gzip.open(BytesIO(content)) as file:
            yield source, file.read(LARGEST_FILE)
    else:
        yield source, content


def _identified(content: bytes, source: str) -> UciSet | None:
    digest = hashlib.sha256(content).hexdigest()
    for entry in uci_sets().values():
        if entry.raw == digest:
            return entry
    for entry in uci_sets().values():
        try:
            if entry.encode(content, source).sha256 == entry.matrix:
                return entry
        except TableError:
            continue
    return None


def _write(entry: UciSet, content: bytes) -> None:
    path = cached_file(entry)
    try:
        replace_file(path, content)
    except OSError as error:
        raise TableError(str(path), f"cannot be written: {error.strerror}.") from error


def _is_genuine(entry: UciSet, content: bytes, table: Table) -> bool:
    return hashlib.sha256(content).hexdigest() == entry.raw or table.sha256 == entry.matrix


def _mismatch(entry: UciSet, content: bytes, source: str) -> str:
    try:
        return _hashes(entry, content, entry.encode(content, source))
    except TableError as error:
        return f"{_hashes(entry, content, None)} {error.where} {error.problem}"


def _hashes(entry: UciSet, content: bytes, table: Table | None) -> str:
    matrix = "none" if table is None else table.sha256
    return (
        f"its SHA-256 is {hashlib.sha256(content).hexdigest()}, that of {entry.name} is "
        f"{entry.raw}; the SHA-256 of its matrix is {matrix}, that of {entry.name} is "
        f"{entry.matrix}."
    )
