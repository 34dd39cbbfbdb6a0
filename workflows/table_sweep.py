"""The sweep of a user's own file, without a spec file."""

from collections.abc import Collection
from os import PathLike

from pipeline.datasets import TableError
from pipeline.errors import SpecError
from pipeline.spec.sweep import Sweep
from workflows.named_data import own_table


def own_sweep(
    path: str | PathLike[str],
    label: str | None = None,
    k: int | Collection[int] | None = None,
    missing: str = "refuse",
    ignore: Collection[str] = (),
    header: bool = True,
) -> Sweep:
    r"""Return the sweep of one file with the paper's settings.

    Parameters
    ----------
    path, label, missing, ignore, header
        As for `read_table`. The file's name without its ending becomes the configuration's name.
        Or the name of a data set of an imported battery, as for `load_battery`.
    k : int or collection of int, optional
        The number of clusters. By default the number of classes. Several make one configuration
        each.

    Returns
    -------
    Sweep
        The sweep: all four normalisations, 1.1 to 5.0 for both exponents, 100 restarts, exact
        centres.

    Raises
    ------
    TableError, InvalidInputError
        If the file is not a usable table, or k is missing or too large.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "my.csv"
    ...     _ = file.write_text("size,species\n1,a\n2,a\n8,b\n9,b\n")
    ...     spec = own_sweep(file, label="species").spec
    >>> spec.configs, len(spec.tiles), spec.shape("my")
    (('my',), 4, (4, 1, 2))
    """
    name, table = own_table(str(path), label, missing=missing, ignore=ignore, header=header)
    try:
        return Sweep.of({name: table}, k)
    except SpecError as error:
        problem = f"{name} is not a valid data set name. Rename the file."
        raise TableError(str(path), problem) from error
