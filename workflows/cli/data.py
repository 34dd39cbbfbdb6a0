"""Commands for the paper's real data sets, and for benchmark batteries."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workflows.cli.exit_codes import FAILED, end

if TYPE_CHECKING:
    from pipeline.datasets.batteries import BatteryReport
    from pipeline.datasets.uci.cache import ImportReport


@click.group()
def datasets() -> None:
    """List, fetch or import real data sets and batteries."""


@datasets.command("list")
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, which includes hashes and citations."
)
def list_(as_json: bool) -> None:
    """List the data sets, and which of them are on this machine.

    Below the paper's real data sets, the sets of imported batteries are listed.
    """
    from rich.console import Console

    from pipeline.datasets.uci.cache import cache_folder
    from workflows.dataset_list import dataset_facts, dataset_table, imported_batteries
    from workflows.terminal import counted, print_whole

    if as_json:
        click.echo(json.dumps(dataset_facts(), indent=2, ensure_ascii=False))
    else:
        print_whole(Console(), dataset_table())
        for battery, sets in imported_batteries().items():
            click.echo(f"Imported, {counted(len(sets), 'set')} of {battery}: {' '.join(sets)}")
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
    """Import data sets from a folder.

    Raw files of the paper's real data sets are recognised by their content. Zip and gz
    files are unpacked.

    The sets of benchmark batteries are recognised by their names: battery/name.data.gz
    with battery/name.labels0.gz beside it. They are used by name: battery/name, or
    battery/name:labels1 with the classes of another file.
    """
    from pipeline.datasets.batteries import find_sets, import_sets
    from pipeline.datasets.uci.cache import import_files

    sets = find_sets(folder)
    others = import_files(folder, except_for={file for each in sets for file in each.files})
    if not sets:
        _report(others)
        return
    batteries = import_sets(sets)
    _show_batteries(batteries)
    if others.sets or others.refused:
        _report(others, FAILED if batteries.refused else 0)
    end(FAILED if batteries.refused else 0)


def _show_batteries(report: "BatteryReport") -> None:
    from workflows.dataset_list import by_battery
    from workflows.terminal import counted

    for battery, names in by_battery(report.sets).items():
        click.echo(f"{battery}: {counted(len(names), 'set')}, such as {names[0]}")
    for reason in report.refused.values():
        click.echo(f"refused: {reason}", err=True)
    click.echo(f"{counted(len(report.sets), 'set')} imported")


def _report(report: "ImportReport", code: int = 0) -> None:
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
    end(FAILED if report.refused else code)


#: The commands of this module, for the group `imwk`.
COMMANDS = (datasets,)
