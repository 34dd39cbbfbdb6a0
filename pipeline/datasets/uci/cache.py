"""The real data sets that this machine has: raw files in a cache folder, known by their hashes."""

import gzip
import hashlib
import os
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path, PurePosixPath

from pipeline.datasets.tables.table import Table
from pipeline.datasets.uci.catalogue import UciSet, uci_set, uci_sets
from pipeline.errors import MissingDataError, TableError
from pipeline.files import replace_file

#: Names another folder than the one for caches.
FOLDER_VARIABLE = "IMWK_DATA"
#: Bytes; the largest raw file has 329 kB.
LARGEST_FILE = 5_000_000
#: What unpacking a damaged, encrypted or strange file may raise.
CANNOT_UNPACK = (zipfile.BadZipFile, OSError, EOFError, zlib.error, RuntimeError, ValueError)


@dataclass
class Imported:
    """What became of files that were offered.

    Attributes
    ----------
    sets : dict of str to str
        The file that gave a data set, by the paper's name.
    refused : dict of str to str
        Why a file with a known name is not what its name says.
    skipped : list of str
        Files that are none of the data sets.
    """

    sets: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)


def cache_folder() -> Path:
    """Return where raw files are kept: ``IMWK_DATA``, or a folder among the user's caches."""
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    caches = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(caches) / "imwk-sweep"


def cached_file(entry: UciSet) -> Path:
    """Return where the raw file of a set is, or would be."""
    return cache_folder() / entry.files[0]


def load_uci(names: Iterable[str]) -> dict[str, Table]:
    """Return real data sets, by the paper's name.

    Parameters
    ----------
    names : iterable of str
        The paper's names, or the short ones of `uci_set`.

    Raises
    ------
    MissingDataError
        If some are not in the cache; the message names them all and says what to do.

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
        raise MissingDataError(
            f"{len(missing)} real data sets are not on this machine: {', '.join(missing)}. Get "
            "them by imwk datasets fetch, or by imwk datasets import DIR if you have the files; "
            "or name only those that imwk datasets list shows as present."
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
            str(path), f"was changed: {_hashes(entry, content, table)} Import it anew."
        )
    return table


def import_files(path: Path) -> Imported:
    """Take raw files into the cache, by content, whatever their names; zip and gz are unpacked.

    Parameters
    ----------
    path : Path
        A file, or a folder of any depth.

    Returns
    -------
    Imported
        Which sets were found. A file of a known name that is another is refused, the rest skipped.

    Raises
    ------
    MissingDataError
        If there is no such file or folder.
    """
    if not path.exists():
        raise MissingDataError(f"There is no file or folder {path}. Give one with raw files.")
    offered = sorted(path.rglob("*")) if path.is_dir() else [path]
    report = Imported()
    for file in offered:
        if file.is_file():
            _offer(report, str(file), file)
    return report


def _offer(report: Imported, source: str, file: Path) -> None:
    if file.stat().st_size > LARGEST_FILE:
        report.skipped.append(source)
        return
    try:
        for name, content in unpacked(source, file.read_bytes()):
            offer(report, name, content)
    except CANNOT_UNPACK:
        report.skipped.append(source)


def offer(report: Imported, source: str, content: bytes) -> None:
    """Take one raw file into the cache if it is one of the sets; note what it was."""
    entry = _known(content, source)
    if entry is not None:
        _keep(entry, content)
        report.sets[entry.name] = source
        return
    for entry in uci_sets().values():
        if PurePosixPath(source.replace(os.sep, "/")).name.removesuffix(".gz") in entry.files:
            report.refused[source] = _why_not(entry, content, source)
            return
    report.skipped.append(source)


def unpacked(source: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield a file, or those that are packed in it, with their names."""
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


def _known(content: bytes, source: str) -> UciSet | None:
    digest = hashlib.sha256(content).hexdigest()
    for entry in uci_sets().values():
        if entry.raw == digest:
            return entry
    for entry in uci_sets().values():
        if entry.matrix is not None:
            try:
                if entry.encode(content, source).sha256 == entry.matrix:
                    return entry
            except TableError:
                continue
    return None


def _keep(entry: UciSet, content: bytes) -> None:
    path = cached_file(entry)
    try:
        replace_file(path, content)
    except OSError as error:
        raise TableError(str(path), f"cannot be written: {error.strerror}.") from error


def _is_genuine(entry: UciSet, content: bytes, table: Table) -> bool:
    return hashlib.sha256(content).hexdigest() == entry.raw or table.sha256 == entry.matrix


def _why_not(entry: UciSet, content: bytes, source: str) -> str:
    try:
        return _hashes(entry, content, entry.encode(content, source))
    except TableError as error:
        return f"{_hashes(entry, content, None)} {error.where} {error.problem}"


def _hashes(entry: UciSet, content: bytes, table: Table | None) -> str:
    matrix = "none" if table is None else table.sha256
    return (
        f"its SHA-256 is {hashlib.sha256(content).hexdigest()}, that of {entry.name} is "
        f"{entry.raw}; the matrix it encodes to has {matrix}, that of {entry.name} has "
        f"{entry.matrix or 'one that is not known'}."
    )
