"""A sweep: its spec, and the tables that the spec knows by their hash."""

from collections import ChainMap
from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Union

from pipeline.core.errors import InvalidInputError
from pipeline.datasets import Table, make_table
from pipeline.datasets.tables.table import Tables
from pipeline.errors import SpecError, TableError
from pipeline.spec.model import SweepSpec
from pipeline.spec.sources import TableFacts, facts_by_config

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame


@dataclass(frozen=True, eq=False)
class Sweep:
    """A spec and the tables that it refers to.

    Attributes
    ----------
    spec : SweepSpec
        The definition of the sweep.
    tables : mapping of str to Table
        Tables by hash. Tables that the cube already contains may be left out.
    """

    spec: SweepSpec
    tables: Tables

    @classmethod
    def of(
        cls,
        tables: Mapping[str, Union[Table, "DataFrame", "ArrayLike"]],
        k: int | Collection[int] | None = None,
        *,
        label: Union[Hashable, "ArrayLike", None] = None,
        missing: str = "refuse",
        ignore: Collection[Hashable] = (),
        categorical: Collection[Hashable] = (),
        **keys: Any,
    ) -> "Sweep":
        """Return the sweep of some tables. The name of each becomes its configuration.

        Parameters
        ----------
        tables : mapping of str to Table, DataFrame or array-like
            By name. Data other than a `Table` are encoded by `make_table`.
        k : int or collection of int, optional
            Number of clusters of every table. By default each table's number of classes. Several
            make one configuration each, such as ``mine k=2`` and ``mine k=3``.
        label, missing, ignore, categorical
            As for `make_table`.
        **keys
            Other keys of the spec, as for `SweepSpec`.

        Returns
        -------
        Sweep
            The spec and the tables.

        Raises
        ------
        TableError
            If a table cannot be used. The message has its name.
        SpecError
            If a name or a key of the spec is invalid.

        Examples
        --------
        >>> import pandas as pd
        >>> flowers = pd.DataFrame({"size": [1.0, 2.0, 9.0], "species": ["a", "a", "b"]})
        >>> sweep = Sweep.of({"mine": flowers}, label="species", normalisations=["range"])
        >>> print(*sweep.spec.tiles, sweep.spec.shape("mine"))
        mine, data set 0, range (3, 1, 2)
        """
        if not isinstance(tables, Mapping):
            raise SpecError(
                [f"tables must be a mapping such as {{'mine': data}}, got {type(tables).__name__}."]
            )
        ready = {
            name: make_table(
                data, label, name=name, missing=missing, ignore=ignore, categorical=categorical
            )
            for name, data in tables.items()
        }
        facts = [_facts(name, table, k) for name, table in ready.items()]
        spec = SweepSpec(datasets={"matrices": dict(ChainMap(*facts))}, **keys)
        return cls(spec, {table.sha256: table for table in ready.values()})


def _facts(name: str, table: Table, k: int | Collection[int] | None) -> dict[str, TableFacts]:
    try:
        return facts_by_config(name, table, k)
    except InvalidInputError as error:
        raise TableError(name, str(error)) from None
