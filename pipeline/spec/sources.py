"""The data sets of a sweep by source, as a spec describes them."""

from collections.abc import Collection, Sequence
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    field_validator,
    model_serializer,
    model_validator,
)

from pipeline.core.errors import InvalidInputError
from pipeline.core.validation import as_cluster_count
from pipeline.datasets import CONFIGURATIONS, Table
from pipeline.datasets.tables.columns import MOST_CELLS, MOST_ROWS
from pipeline.errors import BadEntryError
from pipeline.spec.fields import FrozenModel, some_of, whole_number
from pipeline.spec.generators import MOST_DATASETS, GeneratorData

#: Names of configurations are printed in tables.
LONGEST_NAME = 60


def _expand_all(given: Any) -> Any:
    return list(CONFIGURATIONS) if given == "all" else given


class Synthetic(FrozenModel):
    """The paper's synthetic data: which configurations, and how many data sets of each."""

    configs: Annotated[
        tuple[str, ...], some_of("configuration", CONFIGURATIONS), BeforeValidator(_expand_all)
    ]
    count: Annotated[int, whole_number("count", 1, MOST_DATASETS)]


class TableFacts(FrozenModel):
    """What a spec records of a table: its identity, and the number of clusters to find.

    Attributes
    ----------
    k : int
        Number of clusters.
    rows, features : int
        Shape of the encoded table.
    labelled : bool
        Whether its classes are known.
    sha256 : str
        Hash of numbers and classes, as in `Table.sha256`.
    """

    k: Annotated[int, whole_number("k", 1, MOST_ROWS)]
    rows: Annotated[int, whole_number("rows", 1, MOST_ROWS)]
    features: Annotated[int, whole_number("features", 1, MOST_CELLS)]
    labelled: bool = Field(strict=True)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, table: Table, k: int | None = None) -> "TableFacts":
        """Return the facts of a table. By default k is the number of its classes.

        Examples
        --------
        >>> import numpy as np
        >>> table = Table(np.array([[1.0], [2.0], [9.0]]), ("size",), np.array([0, 0, 1]))
        >>> TableFacts.of(table).k
        2
        """
        clusters = table.class_count if k is None else k
        if clusters is None:
            raise InvalidInputError(
                "the number of clusters must be given, because the table has no labels. Give k, "
                "or the label."
            )
        rows, features = table.X.shape
        return cls(
            k=as_cluster_count(clusters, rows),
            rows=rows,
            features=features,
            labelled=table.classes is not None,
            sha256=table.sha256,
        )


def facts_by_config(
    name: str, table: Table, k: int | Collection[int] | None = None
) -> dict[str, TableFacts]:
    """Return the facts of a table by configuration: one configuration for each k of several.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(np.array([[1.0], [2.0], [9.0]]), ("size",))
    >>> list(facts_by_config("mine", table, 2)), list(facts_by_config("mine", table, [2, 3]))
    (['mine'], ['mine k=2', 'mine k=3'])
    """
    if k is None or not isinstance(k, Collection):
        return {name: TableFacts.of(table, k)}
    return {f"{name} k={each}": TableFacts.of(table, each) for each in k}


def check_names(tables: dict[str, Any]) -> dict[str, Any]:
    """Return the tables sorted by name, and refuse names that cannot name a configuration."""
    for name in tables:
        if name in CONFIGURATIONS:
            raise BadEntryError((name,), name, "is the name of a synthetic configuration.")
        if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST_NAME:
            raise BadEntryError(
                (name,), name, f"give a name of 1 to {LONGEST_NAME} printable characters."
            )
    return dict(sorted(tables.items()))


def refuse_repeated(names: Sequence[str]) -> None:
    """Raise an error if two data sets have the same name."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"two data sets have the name {repeated[0]}. Rename one of them.")


class Datasets(FrozenModel):
    """The data sets of a sweep by source, at least one of them.

    Attributes
    ----------
    synthetic : Synthetic or None
        The paper's synthetic data.
    matrices : dict of str to TableFacts
        Tables by name. Cubes and fingerprints contain this key, so it keeps its name.
    plugin : dict of str to GeneratorData
        Data sets of plug-in generators, by configuration.
    """

    synthetic: Synthetic | None = None
    matrices: dict[str, TableFacts] = Field(default={})
    plugin: dict[str, GeneratorData] = Field(default={})

    @field_validator("matrices", "plugin")
    @classmethod
    def _check_names(cls, matrices: dict[str, Any]) -> dict[str, Any]:
        return check_names(matrices)

    @model_validator(mode="after")
    def _refuse_none(self) -> "Datasets":
        if self.synthetic is None and not self.matrices and not self.plugin:
            raise ValueError("give some data: synthetic, tables or uci.")
        refuse_repeated((*self.matrices, *self.plugin))
        return self

    @model_serializer(mode="wrap")
    def _omit_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit unused sources, so that specs written by earlier versions keep their fingerprint."""
        return {source: data for source, data in handler(self).items() if data}

    @property
    def has_tables(self) -> bool:
        """Whether some data are not synthetic."""
        return bool(self.matrices)

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """Configurations without known classes."""
        matrices = self.matrices.items()
        return tuple(config for config, facts in matrices if not facts.labelled)

    @property
    def configs(self) -> tuple[str, ...]:
        """All configurations of all sources, in order."""
        synthetic = () if self.synthetic is None else self.synthetic.configs
        return (*synthetic, *self.matrices, *self.plugin)
