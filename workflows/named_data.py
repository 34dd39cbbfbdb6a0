"""Find data by name: a user's file, a synthetic configuration or a real data set of the paper."""

from collections.abc import Collection
from pathlib import Path

from pipeline.core.validation import as_choice
from pipeline.datasets import CONFIGURATIONS, Table, load_battery, read_table, synthetic_dataset
from pipeline.datasets.batteries import is_set_name
from pipeline.datasets.tables.kinds import ending_of, name_of
from pipeline.datasets.uci.cache import load_uci
from pipeline.datasets.uci.catalogue import uci_sets
from workflows.errors import ArgumentError

#: The seed of the presets.
SEED = 2020


def named_table(
    name: str,
    *,
    dataset: int | None = None,
    seed: int | None = None,
    label: str | None = None,
    missing: str = "refuse",
    ignore: Collection[str] = (),
    header: bool = True,
) -> tuple[str, Table]:
    """Return the title and the data of a data set.

    Parameters
    ----------
    name : str
        A file as for `read_table`, a key of `CONFIGURATIONS`, or a name as for `uci_set` or
        `load_battery`.
    dataset, seed : int, optional
        The number of the data set and the seed of a synthetic configuration. By default 0, and
        the seed of the presets.
    label, missing, ignore, header
        As for `read_table`. For files and batteries only.

    Raises
    ------
    InvalidInputError
        If there are no such data, or an argument is given that does not apply to them.

    Examples
    --------
    >>> title, table = named_table("1000x6-3", dataset=2)
    >>> title, table.X.shape, table.class_names
    ('1000x6-3, data set 2', (1000, 6), ('0', '1', '2'))
    """
    is_own = bool(ending_of(Path(name))) or is_set_name(name)
    if not is_own:
        given = {"label": label, "ignore": ignore, "missing": missing != "refuse"}
        _refuse("a file", name, **given, no_header=not header)
    if name in CONFIGURATIONS:
        index = dataset or 0
        return f"{name}, data set {index}", _synthetic(name, index, SEED if seed is None else seed)
    _refuse("a synthetic configuration", name, dataset=dataset is not None, seed=seed is not None)
    if is_own:
        return own_table(name, label, missing=missing, ignore=ignore, header=header)
    ((title, table),) = load_uci([_known(name)]).items()
    return title, table


def own_table(
    name: str,
    label: str | None = None,
    *,
    missing: str = "refuse",
    ignore: Collection[str] = (),
    header: bool = True,
) -> tuple[str, Table]:
    r"""Return the name and the data of a user's file, or of a data set of an imported battery.

    Parameters
    ----------
    name : str
        A file as for `read_table`, or a name as for `load_battery`.
    label, missing, ignore, header
        As for `read_table`.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "my.csv").write_text("1,a\n2,b\n")
    ...     name, table = own_table(f"{folder}/my.csv", "x2", header=False)
    >>> name, table.features
    ('my', ('x1',))
    """
    if not is_set_name(name):
        table = read_table(name, label, missing=missing, ignore=ignore, header=header)
        return name_of(Path(name)), table
    _refuse("a file", name, no_header=not header)
    return name, load_battery(name, label, missing=missing, ignore=ignore)


def _known(name: str) -> str:
    """Return the name of a real data set, or raise an error that lists all names."""
    short = [entry.key for entry in uci_sets().values()]
    return name if name in short else as_choice(name, "data set", [*CONFIGURATIONS, *uci_sets()])


def _refuse(needed: str, name: str, **given: object) -> None:
    for argument, value in given.items():
        if value:
            raise ArgumentError(
                f"{argument} applies only to {needed}, and {name} is not one. Leave it out.",
                argument,
            )


def _synthetic(config: str, index: int, seed: int) -> Table:
    data = synthetic_dataset(config, index, seed)
    features = tuple(f"feature {number}" for number in range(data.X.shape[1]))
    return Table(data.X, features, data.y, tuple(map(str, range(CONFIGURATIONS[config].clusters))))
