"""A sweep over a user's own file, without any TOML."""

from collections.abc import Collection
from os import PathLike
from pathlib import Path

from pipeline.datasets import TableError, read_table
from pipeline.errors import SpecError
from pipeline.spec.sweep import Sweep


def own_sweep(
    path: str | PathLike[str],
    label: str | None = None,
    k: int | None = None,
    missing: str = "refuse",
    ignore: Collection[str] = (),
) -> Sweep:
    r"""Return the sweep of one file with the paper's settings.

    Parameters
    ----------
    path, label, missing, ignore
        As for `read_table`. The file's name without its ending names the configuration.
    k : int, optional
        Number of clusters; the number of classes unless given.

    Returns
    -------
    Sweep
        All four normalisations, the full grid 1.1 to 5.0 twice, 100 restarts, exact centres.

    Raises
    ------
    TableError, InvalidInputError
        If the file is no usable table, or k is lacking or too large.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder) / "my.csv"
    ...     _ = file.write_text("size,species\n1,a\n2,a\n8,b\n9,b\n")
    ...     spec = own_sweep(file, label="species").spec
    >>> spec.configs, len(spec.tiles), spec.shape("my")
    (('my',), 4, (4, 1, 2))
    """
    table = read_table(path, label, missing=missing, ignore=ignore)
    try:
        return Sweep.of({Path(path).stem: table}, k)
    except SpecError as error:
        raise TableError(str(path), "has a name that names no data. Rename the file.") from error
