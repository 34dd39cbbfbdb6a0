"""Imported benchmark batteries: their data sets by name, such as ``wut/circles``."""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from pipeline.core.validation import as_choice
from pipeline.datasets.tables.battery_files import MATRIX, labellings, read_battery
from pipeline.datasets.tables.encoding import encode
from pipeline.datasets.tables.kinds import ending_of, name_of
from pipeline.datasets.tables.packed import PACKED
from pipeline.datasets.tables.table import Table, read_table
from pipeline.datasets.uci.cache import cache_folder
from pipeline.errors import MissingDataError, TableError
from pipeline.files import replace_file

#: The folder of batteries in the cache.
FOLDER = "batteries"
#: The labelling whose classes are used by default.
DEFAULT_LABELS = "labels0"
#: The endings of matrices.
MATRIX_ENDINGS = (f"{MATRIX}{PACKED}", MATRIX)
#: The names of batteries and their sets: they become parts of paths.
_NAME = re.compile(r"\w[\w.+-]*", re.ASCII)


@dataclass(frozen=True)
class BatterySet:
    """The files of a data set: its name, its matrix, and its labellings by name."""

    name: str
    matrix: Path
    labels: dict[str, Path]

    @property
    def files(self) -> tuple[Path, ...]:
        """All files, the matrix last: without it, there is no data set."""
        return (*self.labels.values(), self.matrix)


@dataclass
class BatteryReport:
    """The result of an import.

    Attributes
    ----------
    sets : list of str
        Names of the data sets that were imported.
    refused : dict of str to str
        Matrices that cannot be used, and the reason.
    """

    sets: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def find_sets(folder: Path) -> list[BatterySet]:
    """Find the data sets of batteries in a folder and the folders in it.

    A data set is a file such as ``circles.data.gz`` with ``circles.labels0.gz`` beside it. The
    name of their folder is the name of the battery.
    """
    files = sorted(folder.rglob("*")) if folder.is_dir() else []
    matrices = [file for file in files if file.name.endswith(MATRIX_ENDINGS)]
    sets = [BatterySet(_set_name(file), file, labellings(file)) for file in matrices]
    return [each for each in sets if each.labels]


def _set_name(matrix: Path) -> str:
    return f"{matrix.absolute().parent.name}/{name_of(matrix)}"


def _is_valid(name: str) -> bool:
    """Return whether a name consists of those of a battery and a set, and leads to no other folder.

    Examples
    --------
    >>> [_is_valid(name) for name in ("wut/x1", "x1", "../x1", "wut/../x1")]
    [True, False, False, False]
    """
    parts = name.split("/")
    return len(parts) == 2 and all(_NAME.fullmatch(part) for part in parts)


def import_sets(sets: Iterable[BatterySet]) -> BatteryReport:
    """Copy data sets into the cache. Those that cannot be read are refused.

    Parameters
    ----------
    sets : iterable of BatterySet
        As `find_sets` returns them.

    Returns
    -------
    BatteryReport
        What was imported. A set that was imported before is replaced.
    """
    report = BatteryReport()
    for each in sets:
        try:
            _refuse_unusable(each, report.sets)
            _copy(each)
            report.sets.append(each.name)
        except TableError as error:
            report.refused[str(each.matrix)] = str(error)
    return report


def _refuse_unusable(each: BatterySet, known: Collection[str]) -> None:
    source = str(each.matrix)
    if not _is_valid(each.name):
        raise TableError(source, f"{each.name!r} is not a valid name. Use letters and digits.")
    if each.name in known:
        raise TableError(source, f"is another file of {each.name}. Rename the file or its folder.")
    read = read_battery(each.matrix, texts=each.labels, ignore=())
    features = [column for name, column in read.columns.items() if name not in each.labels]
    encode(read, features, "impute")


def _copy(each: BatterySet) -> None:
    folder, old = _folder(each.name), _imported(each.name)
    try:
        for file in reversed(old.files if old else ()):
            file.unlink()
        for file in each.files:
            replace_file(folder / file.name, file.read_bytes())
    except OSError as error:
        raise TableError(str(each.matrix), f"cannot be copied: {error.strerror}.") from error


def _folder(name: str) -> Path:
    """Return the folder of a data set in the cache."""
    battery, _, _ = name.partition("/")
    return cache_folder() / FOLDER / battery


def _imported(name: str) -> BatterySet | None:
    """Return a data set that was imported; None if it was not."""
    _, _, stem = name.partition("/")
    for ending in MATRIX_ENDINGS if _is_valid(name) else ():
        matrix = _folder(name) / f"{stem}{ending}"
        if matrix.is_file():
            return BatterySet(name, matrix, labellings(matrix))
    return None


def imported_sets() -> dict[str, BatterySet]:
    """Return the data sets of all imported batteries, by name."""
    return {each.name: each for each in find_sets(cache_folder() / FOLDER)}


def is_set_name(name: str) -> bool:
    """Return whether a name is that of a data set of a battery, imported or not.

    Examples
    --------
    >>> names = ("wut/circles", "wut/circles:labels1", "my.csv", "data/my.csv", "iris")
    >>> [is_set_name(name) for name in names]
    [True, True, False, False, False]
    """
    base, _, _ = name.partition(":")
    return _is_valid(base) and not ending_of(Path(base)) and not Path(name).exists()


def matching_sets(names: Iterable[str]) -> list[str]:
    """Replace patterns such as ``wut/*`` by the names of all imported data sets that match."""
    known = imported_sets()
    found = []
    for name in names:
        base, colon, labels = name.partition(":")
        some = [each for each in known if fnmatchcase(each, base)] or [base]
        found += [f"{each}{colon}{labels}" for each in some]
    return found


def load_battery(
    name: str,
    label: str | None = None,
    *,
    missing: str = "refuse",
    ignore: Collection[str] = (),
) -> Table:
    """Return a data set of an imported battery.

    Parameters
    ----------
    name : str
        Battery and set, such as ``wut/circles``. ``wut/circles:labels1`` has the classes of
        another labelling.
    label : str, optional
        The labelling, if the name has none. By default ``labels0``.
    missing, ignore
        As for `read_table`.

    Returns
    -------
    Table
        The data set. Noise points have no class.

    Raises
    ------
    MissingDataError
        If no battery has been imported.
    InvalidInputError
        If there is no such battery, set or labelling.
    """
    base, _, suffix = name.partition(":")
    found = _found(base)
    labels = suffix or label or DEFAULT_LABELS
    if label not in (None, labels):
        raise TableError(name, f"names {labels}, and the label is {label}. Give one of them.")
    as_choice(labels, f"labelling of {base}", found.labels)
    return read_table(found.matrix, labels, missing=missing, ignore=ignore)


def _found(name: str) -> BatterySet:
    found = _imported(name)
    return _as_known(name) if found is None else found


def _as_known(name: str) -> BatterySet:
    """Raise an error that lists the names there are."""
    sets = imported_sets()
    if not sets:
        raise MissingDataError(
            f"{name} is not on this machine: no battery was imported. Import one with imwk "
            "datasets import DIR."
        )
    battery, _, _ = name.partition("/")
    as_choice(battery, "battery", sorted({each.partition("/")[0] for each in sets}))
    siblings = [each for each in sets if each.startswith(f"{battery}/")]
    return sets[as_choice(name, "data set", siblings)]
