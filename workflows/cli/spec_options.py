"""Options that choose a sweep: a spec or a user's table."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workflows.cli.options import swept_table_options

if TYPE_CHECKING:
    from pipeline.spec.sweep import Sweep
    from pipeline.spec.toml import SpecFile

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

DATA_OPTIONS = ("data", "label", "k", "missing", "ignore", "no_header")


def data_options(command: AnyFunction) -> AnyFunction:
    """Add the options that give a table in place of a spec."""
    data = click.option(
        "--data",
        metavar="FILE",
        help="Sweep over this .csv, .tsv, .arff, .data, .parquet, .npz or .mat file, or over a set "
        "of an imported battery such as wut/circles, with the paper's settings, in place of SPEC.",
    )
    return data(swept_table_options(command))


def chosen_spec(
    spec: str | None, data: str | None, no_header: bool = False, **options: Any
) -> "SpecFile":
    """Read a spec or a table, and print notices about the data."""
    if (spec is None) == (data is None):
        raise click.UsageError("Give either SPEC or --data FILE.")
    if data is None:
        _refuse_table_options({**options, "no-header": no_header})
        return read_spec_argument(str(spec))
    from pipeline.spec.toml import SpecFile
    from workflows.table_sweep import own_sweep

    sweep = own_sweep(data, header=not no_header, **options)
    _show_notices(sweep)
    return SpecFile(sweep, {})


def read_spec_argument(spec: str) -> "SpecFile":
    """Read a spec, and print notices about its data."""
    from workflows.spec_files import load_spec_file

    file = load_spec_file(spec)
    _show_notices(file.sweep)
    return file


def _refuse_table_options(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value and value != "refuse"]
    if given:
        key = "header = false" if given[0] == "no-header" else f"{given[0]} = ..."
        raise click.UsageError(
            f"--{given[0]} is used with --data only. In a spec, write {key} under "
            "[datasets.tables.NAME]."
        )


def _show_notices(sweep: "Sweep") -> None:
    """Print what was dropped or imputed."""
    for name, facts in sweep.spec.datasets.matrices.items():
        for dataset, sha256 in enumerate(facts.hashes):
            title = f"{name}, data set {dataset}" if facts.more else name
            for notice in sweep.tables[sha256].notices if sha256 in sweep.tables else ():
                click.echo(f"{title}: {notice}", err=True)
