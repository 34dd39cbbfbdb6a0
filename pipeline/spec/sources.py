"""The data sets of a sweep, by source: what a spec knows of them."""

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
from pipeline.spec.fields import Frozen, some_of, whole_number

#: A limit far above any sweep that could end, to catch slips of a key.
MOST_DATASETS = 10_000
#: Names of configurations are printed in tables.
LONGEST_NAME = 60


def _all_in_full(given: Any) -> Any:
    return list(CONFIGURATIONS) if given == "all" else given


class Synthetic(Frozen):
    """The paper's synthetic data: which configurations, and how many data sets of each."""

    configs: Annotated[
        tuple[str, ...], some_of("configuration", CONFIGURATIONS), BeforeValidator(_all_in_full)
    ]
    count: Annotated[int, whole_number("count", 1, MOST_DATASETS)]


class MatrixFacts(Frozen):
    """What a spec knows of a table: enough to tell it from any other, and how to cluster it.

    Attributes
    ----------
    k : int
        Number of clusters.
    rows, features : int
        Its shape, encoded.
    labelled : bool
        Whether its classes are known.
    sha256 : str
        Of numbers and classes, as `Table.sha256` has it.
    """

    k: Annotated[int, whole_number("k", 1, MOST_ROWS)]
    rows: Annotated[int, whole_number("rows", 1, MOST_ROWS)]
    features: Annotated[int, whole_number("features", 1, MOST_CELLS)]
    labelled: bool = Field(strict=True)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")

    @classmethod
    def of(cls, table: Table, k: int | None = None) -> "MatrixFacts":
        """Return the facts of a table; k is the number of its classes unless given.

        Examples
        --------
        >>> import numpy as np
        >>> table = Table(np.array([[1.0], [2.0], [9.0]]), ("size",), np.array([0, 0, 1]))
        >>> MatrixFacts.of(table).k
        2
        """
        clusters = table.class_count if k is None else k
        if clusters is None:
            raise InvalidInputError(
                "without labels the number of clusters must be given: k = 3, or --k 3."
            )
        rows, features = table.X.shape
        return cls(
            k=as_cluster_count(clusters, rows),
            rows=rows,
            features=features,
            labelled=table.classes is not None,
            sha256=table.sha256,
        )


def refuse_bad_names(tables: dict[str, Any]) -> dict[str, Any]:
    """Refuse names of tables that could not name a configuration; sort the others."""
    for name in tables:
        if name in CONFIGURATIONS:
            raise BadEntryError((name,), name, "is the name of a synthetic configuration.")
        if not name.isprintable() or name != name.strip() or not 0 < len(name) <= LONGEST_NAME:
            raise BadEntryError(
                (name,), name, f"give a name of 1 to {LONGEST_NAME} printable characters."
            )
    return dict(sorted(tables.items()))


class Datasets(Frozen):
    """The data sets of a sweep, by source; at least one of them."""

    synthetic: Synthetic | None = None
    matrices: dict[str, MatrixFacts] = Field(default={})

    @field_validator("matrices")
    @classmethod
    def _good_names(cls, matrices: dict[str, Any]) -> dict[str, Any]:
        return refuse_bad_names(matrices)

    @model_validator(mode="after")
    def _some(self) -> "Datasets":
        if self.synthetic is None and not self.matrices:
            raise ValueError("give some data: synthetic, tables or uci.")
        return self

    @model_serializer(mode="wrap")
    def _without_empty(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out sources that are not used: a spec of before has the fingerprint of before."""
        return {source: data for source, data in handler(self).items() if data}

    @property
    def are_real(self) -> bool:
        """Whether some data are not made up."""
        return bool(self.matrices)

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """Configurations whose classes nobody knows."""
        matrices = self.matrices.items()
        return tuple(config for config, matrix in matrices if not matrix.labelled)

    @property
    def configs(self) -> tuple[str, ...]:
        """All configurations of all sources, in order."""
        synthetic = () if self.synthetic is None else self.synthetic.configs
        return (*synthetic, *self.matrices)
