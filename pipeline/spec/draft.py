"""A spec as people write it. It names files and data sets, which are read to get the sweep."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pipeline.core.errors import ImwkError, InvalidInputError
from pipeline.core.validation import as_whole_number
from pipeline.datasets import Table, load_battery, load_uci, read_table
from pipeline.datasets.batteries import matching_sets
from pipeline.datasets.tables.columns import MOST_ROWS
from pipeline.datasets.tables.encoding import ON_MISSING
from pipeline.datasets.uci.catalogue import uci_set, uci_sets
from pipeline.errors import Location, Problem, SpecError
from pipeline.spec.fields import FrozenModel, is_list, one_of, some_of
from pipeline.spec.generated import Generated
from pipeline.spec.generators import GeneratorData
from pipeline.spec.model import SpecKeys, SweepSpec
from pipeline.spec.problems import AllowedKeys, dotted, shown
from pipeline.spec.replicates import read_replicates, replicate_files
from pipeline.spec.sources import (
    GIVE_DATA,
    Synthetic,
    TableFacts,
    check_names,
    facts_by_config,
    refuse_repeated,
)
from pipeline.spec.sweep import Sweep


def _column_names(given: Any) -> tuple[str, ...]:
    if not is_list(given):
        raise ValueError('give a list of column names, such as ["id"].')
    return tuple(map(str, given))


def _set_names(given: Any) -> tuple[str, ...]:
    if not is_list(given) or not given or not all(isinstance(name, str) for name in given):
        raise ValueError('give a list of names or patterns, such as ["wut/circles", "fcps/*"].')
    return tuple(given)


def _numbers_of_clusters(given: Any) -> int | tuple[int, ...] | None:
    """Accept a number of clusters, or a list of different ones."""
    if given is None or not is_list(given):
        return None if given is None else _number_of_clusters(given)
    numbers = tuple(map(_number_of_clusters, given))
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError("give each number of clusters once, such as k = [2, 3, 4].")
    return tuple(sorted(numbers))


def _number_of_clusters(given: Any) -> int:
    number = as_whole_number(given, "k", 1)
    if number > MOST_ROWS:
        raise ValueError(f"k must be a whole number of at most {MOST_ROWS}.")
    return number


_ColumnNames = Annotated[tuple[str, ...], BeforeValidator(_column_names)]


class TableFile(FrozenModel):
    """A user's data file, or several. The other keys are k and the parameters of `read_table`."""

    file: str | None = Field(default=None, strict=True)
    files: str | None = Field(default=None, strict=True)
    label: str | None = Field(default=None, strict=True)
    k: Annotated[int | tuple[int, ...] | None, BeforeValidator(_numbers_of_clusters)] = None
    missing: Annotated[str, one_of("way to treat missing values", ON_MISSING)] = "refuse"
    ignore: _ColumnNames = ()
    categorical: _ColumnNames = ()
    header: bool = Field(default=True, strict=True)

    @model_validator(mode="after")
    def _require_one_source(self) -> "TableFile":
        if (self.file is None) == (self.files is None):
            raise ValueError(
                'give either file, or files such as "reps/*.csv", which are the data sets 0, 1, '
                "2, ... of one configuration."
            )
        return self

    @property
    def source(self) -> str | None:
        """The file, or the pattern of several."""
        return self.file if self.files is None else self.files

    def read(self, folder: Path) -> list[Table]:
        """Read the table of each data set. A relative path starts from `folder`."""
        if self.files is None:
            return [self._read(folder / str(self.file))]
        files = replicate_files(self.files, folder)
        return read_replicates(files, self._read, same_classes=self.k is None)

    def _read(self, path: Path) -> Table:
        return read_table(
            path,
            self.label,
            missing=self.missing,
            ignore=self.ignore,
            categorical=self.categorical,
            header=self.header,
        )


def _paper_names(given: Any) -> Any:
    """Expand "all" and replace short names by the paper's; leave anything else to be refused."""
    if given == "all":
        return list(uci_sets())
    if not is_list(given):
        return given
    return [uci_set(name).name if isinstance(name, str) else name for name in given]


class UciNames(FrozenModel):
    """Some of the paper's real data sets, by the paper's names or their short names."""

    names: Annotated[
        tuple[str, ...], some_of("real data set", uci_sets()), BeforeValidator(_paper_names)
    ]


class BatteryNames(FrozenModel):
    """Some data sets of imported batteries. A name may be a pattern such as ``wut/*``."""

    names: Annotated[tuple[str, ...], BeforeValidator(_set_names)]


class DraftDatasets(FrozenModel):
    """The data sets of a sweep, as people name them."""

    synthetic: Synthetic | None = None
    generated: dict[str, Generated] = Field(default={})
    tables: dict[str, TableFile] = Field(default={})
    uci: UciNames | None = None
    batteries: BatteryNames | None = None
    matrices: dict[str, TableFacts] = Field(default={})
    plugin: dict[str, GeneratorData] = Field(default={})

    @field_validator("generated", "tables", "matrices", "plugin")
    @classmethod
    def _check_names(cls, tables: dict[str, Any]) -> dict[str, Any]:
        return check_names(tables)

    @model_validator(mode="after")
    def _refuse_repeated_names(self) -> "DraftDatasets":
        uci = self.uci.names if self.uci else ()
        names = [*self.generated, *self.tables, *uci, *self.matrices, *self.plugin]
        refuse_repeated(names)
        if not names and self.synthetic is None and self.batteries is None:
            raise ValueError(GIVE_DATA)
        return self

    @property
    def has_tables(self) -> bool:
        """Whether some data are not synthetic."""
        return bool(self.tables or self.uci or self.batteries or self.matrices)


class DraftSpec(SpecKeys):
    """A spec as people write it. All keys are validated before any file is read."""

    data_keys: ClassVar[AllowedKeys] = {
        ("datasets",): DraftDatasets.model_fields,
        ("datasets", "synthetic"): Synthetic.model_fields,
        ("datasets", "generated", "*"): Generated.model_fields,
        ("datasets", "uci"): UciNames.model_fields,
        ("datasets", "batteries"): BatteryNames.model_fields,
        ("datasets", "tables", "*"): TableFile.model_fields,
        ("datasets", "matrices", "*"): TableFacts.model_fields,
        ("datasets", "plugin", "*"): GeneratorData.model_fields,
    }

    datasets: DraftDatasets

    def read_data(self, folder: Path) -> Sweep:
        """Read all data that the spec names.

        Parameters
        ----------
        folder : Path
            The folder that relative paths start from.

        Returns
        -------
        Sweep
            The spec, which knows the tables by their hash, and the tables.

        Raises
        ------
        SpecError
            If some data cannot be read. All are tried first.
        """
        data = self.datasets
        read, problems = _TablesRead({}, dict(data.matrices)), list[Problem]()
        for name, file in data.tables.items():
            with _collecting(problems, ("datasets", "tables", name), file.source):
                read.add(name, file.read(folder), file.k)
        if data.uci is not None:
            with _collecting(problems, ("datasets", "uci", "names"), data.uci.names):
                for name, table in load_uci(data.uci.names).items():
                    read.add(name, [table])
        if data.batteries is not None:
            for name in matching_sets(data.batteries.names):
                with _collecting(problems, ("datasets", "batteries", "names"), name):
                    read.add(name, [load_battery(name)])
        if problems:
            raise SpecError(problems)
        given = {key: getattr(self, key) for key in self.model_fields_set}
        given["datasets"] = {
            "synthetic": data.synthetic,
            "generated": data.generated,
            "matrices": read.facts,
            "plugin": data.plugin,
        }
        return Sweep(SweepSpec.model_validate(given), read.tables)


@dataclass(frozen=True)
class _TablesRead:
    """Tables by hash, and their facts by name."""

    tables: dict[str, Table]
    facts: dict[str, TableFacts]

    def add(
        self, name: str, tables: Sequence[Table], k: int | tuple[int, ...] | None = None
    ) -> None:
        facts = facts_by_config(name, tables[0], k, tables[1:])
        for repeated in sorted(facts.keys() & self.facts.keys()):
            raise InvalidInputError(f"two data sets have the name {repeated}. Rename one of them.")
        self.facts.update(facts)
        self.tables.update((table.sha256, table) for table in tables)


@contextmanager
def _collecting(problems: list[Problem], place: Location, value: object) -> Iterator[None]:
    """Add an error about the data that a key names to `problems`, and continue."""
    try:
        yield
    except ImwkError as error:
        problems.append(Problem(dotted(place), str(error), shown(value)))
