"""A spec as people write it: it names files and data sets, which are read to make it ready."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pipeline.core.errors import ImwkError
from pipeline.datasets import Table, read_table
from pipeline.datasets.tables.columns import MOST_ROWS
from pipeline.datasets.tables.encoding import ON_MISSING
from pipeline.datasets.tables.table import Tables
from pipeline.datasets.uci.cache import load_uci
from pipeline.datasets.uci.catalogue import uci_set, uci_sets
from pipeline.errors import Location, Problem, SpecError
from pipeline.spec.fields import Frozen, one_of, some_of, whole_number
from pipeline.spec.model import SpecKeys, SweepSpec
from pipeline.spec.problems import dotted, shown
from pipeline.spec.sources import MatrixFacts, Synthetic, refuse_bad_names


@dataclass(frozen=True, eq=False)
class Sweep:
    """A spec that is ready, and the data that it knows by their hash only.

    Attributes
    ----------
    spec : SweepSpec
        What the sweep is.
    tables : mapping of str to Table
        Data by hash. Those that a cube has already need not be here.
    """

    spec: SweepSpec
    tables: Tables

    @classmethod
    def of(cls, tables: Mapping[str, Table], k: int | None = None, **keys: Any) -> "Sweep":
        """Return the sweep of some tables, each a configuration under its name.

        Parameters
        ----------
        tables : mapping of str to Table
            By name.
        k : int, optional
            Number of clusters, for all of them; the number of classes of each unless given.
        **keys
            Of the spec.

        Examples
        --------
        >>> import numpy as np
        >>> table = Table(np.array([[1.0], [2.0], [9.0]]), ("size",), np.array([0, 0, 1]))
        >>> sweep = Sweep.of({"mine": table}, normalisations=["range"])
        >>> print(*sweep.spec.tiles)
        mine, data set 0, range
        """
        facts = {name: MatrixFacts.of(table, k) for name, table in tables.items()}
        spec = SweepSpec(datasets={"matrices": facts}, **keys)
        return cls(spec, {table.sha256: table for table in tables.values()})


def _names(given: Any) -> tuple[str, ...]:
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError('give a list of names of columns, such as ["id"].')
    return tuple(map(str, given))


_ColumnNames = Annotated[tuple[str, ...], BeforeValidator(_names)]


class TableFile(Frozen):
    """A user's file of data; the keys are those of `read_table`, and k."""

    file: str = Field(strict=True)
    label: str | None = Field(default=None, strict=True)
    k: Annotated[int, whole_number("k", 1, MOST_ROWS)] | None = None
    missing: Annotated[str, one_of("way to treat missing values", ON_MISSING)] = "refuse"
    ignore: _ColumnNames = ()
    categorical: _ColumnNames = ()

    def read(self, folder: Path) -> Table:
        """Read the table; a relative path is one from `folder`."""
        return read_table(
            folder / self.file,
            self.label,
            missing=self.missing,
            ignore=self.ignore,
            categorical=self.categorical,
        )


def _paper_names(given: Any) -> Any:
    if given == "all":
        return list(uci_sets())
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        return given
    return [uci_set(name).name if isinstance(name, str) else name for name in given]


class UciNames(Frozen):
    """Which of the paper's real data sets, by the paper's names or their short ones."""

    names: Annotated[
        tuple[str, ...], some_of("real data set", uci_sets()), BeforeValidator(_paper_names)
    ]


class DraftDatasets(Frozen):
    """The data sets of a sweep as people name them."""

    synthetic: Synthetic | None = None
    tables: dict[str, TableFile] = Field(default={})
    uci: UciNames | None = None
    matrices: dict[str, MatrixFacts] = Field(default={})

    @field_validator("tables", "matrices")
    @classmethod
    def _good_names(cls, tables: dict[str, Any]) -> dict[str, Any]:
        return refuse_bad_names(tables)

    @model_validator(mode="after")
    def _each_name_once(self) -> "DraftDatasets":
        names = [*self.tables, *(self.uci.names if self.uci else ()), *self.matrices]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two data sets have the name {twice[0]}; give each its own.")
        if not names and self.synthetic is None:
            raise ValueError("give some data: synthetic, tables or uci.")
        return self

    @property
    def are_real(self) -> bool:
        """Whether some data are not made up."""
        return bool(self.tables or self.uci or self.matrices)


class DraftSpec(SpecKeys):
    """A spec as people write it: all its keys are checked before any file is read."""

    keys_of_data: ClassVar[Mapping[Location, Iterable[str]]] = {
        ("datasets",): DraftDatasets.model_fields,
        ("datasets", "synthetic"): Synthetic.model_fields,
        ("datasets", "uci"): UciNames.model_fields,
        ("datasets", "tables", "*"): TableFile.model_fields,
        ("datasets", "matrices", "*"): MatrixFacts.model_fields,
    }

    datasets: DraftDatasets

    def ready(self, folder: Path) -> Sweep:
        """Read all data that are named.

        Parameters
        ----------
        folder : Path
            Where relative paths begin.

        Returns
        -------
        Sweep
            The spec, which knows the data by their hash, and the data.

        Raises
        ------
        SpecError
            If some cannot be read; all are tried.
        """
        data = self.datasets
        read, problems = _Read({}, dict(data.matrices)), list[Problem]()
        for name, file in data.tables.items():
            with _noted(problems, ("datasets", "tables", name), file.file):
                read.add(name, file.read(folder), file.k)
        if data.uci is not None:
            with _noted(problems, ("datasets", "uci", "names"), data.uci.names):
                for name, table in load_uci(data.uci.names).items():
                    read.add(name, table)
        if problems:
            raise SpecError(problems)
        datasets = {"synthetic": data.synthetic, "matrices": read.facts}
        return Sweep(SweepSpec.model_validate({**dict(self), "datasets": datasets}), read.tables)


@dataclass(frozen=True)
class _Read:
    """What was read: data by hash, and the facts about them by name."""

    tables: dict[str, Table]
    facts: dict[str, MatrixFacts]

    def add(self, name: str, table: Table, k: int | None = None) -> None:
        self.facts[name] = MatrixFacts.of(table, k)
        self.tables[table.sha256] = table


@contextmanager
def _noted(problems: list[Problem], place: Location, value: object) -> Iterator[None]:
    """Note what is wrong with the data that a key names, and go on."""
    try:
        yield
    except ImwkError as error:
        problems.append(Problem(dotted(place), str(error), shown(value)))
