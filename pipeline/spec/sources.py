"""The data sets of a sweep by source, as a spec describes them."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import chain
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
from pipeline.datasets import CONFIGURATIONS, Configuration, Table
from pipeline.datasets.tables.columns import MOST_CELLS, MOST_ROWS
from pipeline.errors import BadEntryError
from pipeline.spec.fields import FrozenModel, some_of, whole_number
from pipeline.spec.generated import MOST_DATASETS, Generated
from pipeline.spec.generators import GeneratorData

#: What to say if a spec has no data.
GIVE_DATA = "give some data: synthetic, generated, tables, uci, batteries or plugin."
#: The largest product of the numbers of configurations and of data sets, if the user chooses both.
MOST_PLACES = 200_000
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


_Hash = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


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
    more : tuple of str
        Hashes of the tables of the same shape that are data sets 1, 2, ... of the configuration.
    """

    k: Annotated[int, whole_number("k", 1, MOST_ROWS)]
    rows: Annotated[int, whole_number("rows", 1, MOST_ROWS)]
    features: Annotated[int, whole_number("features", 1, MOST_CELLS)]
    labelled: bool = Field(strict=True)
    sha256: _Hash
    more: tuple[_Hash, ...] = Field(default=(), max_length=MOST_DATASETS)

    @model_serializer(mode="wrap")
    def _omit_none(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit other data sets if there are none, so that older specs keep their fingerprint."""
        return {key: value for key, value in handler(self).items() if key != "more" or value}

    @property
    def hashes(self) -> tuple[str, ...]:
        """The hashes of all data sets, in order."""
        return (self.sha256, *self.more)

    def begins_with(self, fewer: "TableFacts") -> bool:
        """Return whether these are the facts of the same data sets, and perhaps of more."""
        first = self.more[: len(fewer.more)]
        return self.model_copy(update={"more": first}) == fewer

    @classmethod
    def of(cls, table: Table, k: int | None = None, more: Collection[Table] = ()) -> "TableFacts":
        """Return the facts of a table. By default k is the number of its classes.

        `more` are further data sets of the same shape.

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
            more=tuple(other.sha256 for other in more),
        )


def facts_by_config(
    name: str,
    table: Table,
    k: int | Collection[int] | None = None,
    more: Collection[Table] = (),
) -> dict[str, TableFacts]:
    """Return the facts of a table by configuration: one configuration for each k of several.

    `more` are further data sets of the same shape, of every configuration.

    Examples
    --------
    >>> import numpy as np
    >>> table = Table(np.array([[1.0], [2.0], [9.0]]), ("size",))
    >>> list(facts_by_config("mine", table, 2)), list(facts_by_config("mine", table, [2, 3]))
    (['mine'], ['mine k=2', 'mine k=3'])
    """
    if k is None or not isinstance(k, Collection):
        return {name: TableFacts.of(table, k, more)}
    return {f"{name} k={each}": TableFacts.of(table, each, more) for each in k}


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
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise ValueError(f"two data sets have the name {repeated[0]}. Rename one of them.")


class Datasets(FrozenModel):
    """The data sets of a sweep by source, at least one of them.

    Attributes
    ----------
    synthetic : Synthetic or None
        The paper's synthetic data.
    generated : dict of str to Generated
        Other synthetic data, by name.
    matrices : dict of str to TableFacts
        Tables by name. Cubes and fingerprints contain this key, so it keeps its name.
    plugin : dict of str to GeneratorData
        Data sets of plug-in generators, by configuration.
    """

    synthetic: Synthetic | None = None
    generated: dict[str, Generated] = Field(default={})
    matrices: dict[str, TableFacts] = Field(default={})
    plugin: dict[str, GeneratorData] = Field(default={})

    @field_validator("generated", "matrices", "plugin")
    @classmethod
    def _check_names(cls, sources: dict[str, Any]) -> dict[str, Any]:
        return check_names(sources)

    @model_validator(mode="after")
    def _refuse_none_and_too_many(self) -> "Datasets":
        counts = self.counts
        if not counts:
            raise ValueError(GIVE_DATA)
        places = len(counts) * max(counts.values())
        several = (
            self.generated or self.plugin or any(facts.more for facts in self.matrices.values())
        )
        if several and places > MOST_PLACES:
            raise ValueError(
                f"{len(counts):,} configurations with up to {max(counts.values()):,} data sets "
                f"are too many. Their product may be {MOST_PLACES:,}."
            )
        return self

    @model_validator(mode="after")
    def _refuse_repeated_names(self) -> "Datasets":
        generated = (data.configurations(name) for name, data in self.generated.items())
        refuse_repeated([*chain(*generated), *self.matrices, *self.plugin])
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
        return tuple(self.counts)

    @property
    def counts(self) -> dict[str, int]:
        """The number of data sets of every configuration, in order."""
        synthetic = self.synthetic
        counts = {} if synthetic is None else dict.fromkeys(synthetic.configs, synthetic.count)
        for name, data in self.generated.items():
            counts |= dict.fromkeys(data.configurations(name), data.count)
        counts |= {name: len(facts.hashes) for name, facts in self.matrices.items()}
        return counts | {name: data.count for name, data in self.plugin.items()}

    @property
    def configurations(self) -> dict[str, Configuration]:
        """What is generated, by configuration: the paper's data, and others."""
        synthetic = () if self.synthetic is None else self.synthetic.configs
        found = {name: CONFIGURATIONS[name] for name in synthetic}
        for name, data in self.generated.items():
            found |= data.configurations(name)
        return found
