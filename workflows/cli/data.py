"""Options for a user's own file of data, and the commands `imwk datasets`; thin."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workflows.cli.exit_codes import FAILED, end

if TYPE_CHECKING:
    from pipeline.datasets.uci.cache import ImportReport
    from pipeline.spec.sweep import Sweep

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

DATA_OPTIONS = ("data", "label", "k", "missing", "ignore")


def table_options(command: AnyFunction) -> AnyFunction:
    """Add the options that say how a file of data is read."""
    for option in (
        click.option("--ignore", multiple=True, metavar="COLUMN", help="Leave out; repeatable."),
        click.option(
            "--missing",
            type=click.Choice(["refuse", "impute"]),
            default="refuse",
            show_default=True,
            help="Missing values: refuse the file, or impute means and modes.",
        ),
        click.option("--k", type=click.IntRange(1), help="Clusters; else as many as classes."),
        click.option("--label", metavar="COLUMN", help="The column with the classes, if known."),
    ):
        command = option(command)
    return command


def data_options(command: AnyFunction) -> AnyFunction:
    """Add the options that name a file of data in place of a spec."""
    data = click.option(
        "--data",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Sweep over this .csv, .tsv, .parquet or .npz file; no SPEC is needed then.",
    )
    return data(table_options(command))


def chosen_sweep(spec: str | None, data: Path | None, **options: Any) -> "Sweep":
    """Return the sweep of a spec or of a file of data, and say what was done to the data."""
    if (spec is None) == (data is None):
        raise click.UsageError("Give SPEC or --data FILE, one of them.")
    if data is None:
        _refuse_options_of_data(options)
        from workflows.presets import load_sweep

        sweep = load_sweep(str(spec))
    else:
        from workflows.own_data import own_sweep

        sweep = own_sweep(data, **options)
    show_notices(sweep)
    return sweep


def _refuse_options_of_data(options: dict[str, Any]) -> None:
    given = [name for name, value in options.items() if value and value != "refuse"]
    if given:
        raise click.UsageError(f"--{given[0]} goes with --data; a spec has its own keys.")


def show_notices(sweep: "Sweep") -> None:
    """Say what was dropped or imputed."""
    for name, facts in sweep.spec.datasets.matrices.items():
        if facts.sha256 in sweep.tables:
            for notice in sweep.tables[facts.sha256].notices:
                click.echo(f"{name}: {notice}", err=True)


@click.group()
def datasets() -> None:
    """List, fetch or import the paper's 18 real data sets."""


@datasets.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with hashes and citations.")
def list_(as_json: bool) -> None:
    """List the data sets, and which of them are on this machine."""
    from rich.console import Console

    from pipeline.datasets.uci.cache import cache_folder
    from workflows.dataset_list import dataset_facts, dataset_table
    from workflows.terminal import print_whole

    if as_json:
        click.echo(json.dumps(dataset_facts(), indent=2, ensure_ascii=False))
    else:
        print_whole(Console(), dataset_table())
        click.echo(f"Raw files are kept in {cache_folder()}")  # whole, for a path to copy


@datasets.command()
@click.argument("names", nargs=-1)
def fetch(names: tuple[str, ...]) -> None:
    """Download data sets by NAMES, or all that are missing, from the UCI repository."""
    from pipeline.datasets.uci.fetch import fetch_uci
    from workflows.dataset_list import missing_sets

    _report(fetch_uci(names or missing_sets()))


@datasets.command("import")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def import_(folder: Path) -> None:
    """Take raw files from DIR, which are known by their content; zip and gz are unpacked."""
    from pipeline.datasets.uci.cache import import_files

    _report(import_files(folder))


def _report(report: "ImportReport") -> None:
    from workflows.dataset_list import missing_sets

    for name, source in report.sets.items():
        click.echo(f"{name}: {source}")
    for source in report.skipped:
        click.echo(f"skipped, none of the data sets: {source}", err=True)
    for source, reason in report.refused.items():
        click.echo(f"refused: {source}: {reason}", err=True)
    missing = missing_sets()
    click.echo(
        f"{len(report.sets)} data sets found; "
        + (f"still missing: {', '.join(missing)}" if missing else "all 18 are here")
    )
    end(FAILED if report.refused else 0)


#: Of the group `imwk`.
COMMANDS = (datasets,)
