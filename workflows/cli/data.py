"""Commands for the paper's real data sets."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workflows.cli.exit_codes import FAILED, end

if TYPE_CHECKING:
    from pipeline.datasets.uci.cache import ImportReport


@click.group()
def datasets() -> None:
    """List, fetch or import the paper's real data sets."""


@datasets.command("list")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, which includes hashes and citations."
)
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
        click.echo(f"Raw files are kept in {cache_folder()}")  # not wrapped, so it can be copied


@datasets.command()
@click.argument("names", nargs=-1)
def fetch(names: tuple[str, ...]) -> None:
    """Download data sets from the UCI repository.

    NAMES are names that imwk datasets list prints. By default all data sets that are
    missing are downloaded.
    """
    from pipeline.datasets.uci.fetch import fetch_uci
    from workflows.dataset_list import missing_sets

    _report(fetch_uci(names or missing_sets()))


@datasets.command("import")
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
def import_(folder: Path) -> None:
    """Import the raw files of data sets from a folder.

    Files in DIR are recognised by their content. Zip and gz files are unpacked.
    """
    from pipeline.datasets.uci.cache import import_files

    _report(import_files(folder))


def _report(report: "ImportReport") -> None:
    from workflows.dataset_list import missing_sets
    from workflows.terminal import counted

    for name, source in report.sets.items():
        click.echo(f"{name}: {source}")
    for source in report.skipped:
        click.echo(f"skipped, because it is not one of the data sets: {source}", err=True)
    for source, reason in report.refused.items():
        click.echo(f"refused: {source}: {reason}", err=True)
    missing = missing_sets()
    click.echo(
        f"{counted(len(report.sets), 'data set')} found; "
        + (f"still missing: {', '.join(missing)}" if missing else "all 18 are present")
    )
    end(FAILED if report.refused else 0)


#: The commands of this module, for the group `imwk`.
COMMANDS = (datasets,)
