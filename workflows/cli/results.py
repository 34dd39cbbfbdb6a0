"""Commands that print the state and the results of a cube."""

import json
from typing import TYPE_CHECKING, Any

import click

from workflows.cli.old_names import old_argument
from workflows.cli.options import (
    config_option,
    cube_argument,
    json_option,
    normalisation_option,
    variable_option,
    where_option,
)

if TYPE_CHECKING:
    import pandas as pd

TABLE_FORMATS = ["terminal", "markdown", "csv", "latex"]


@click.command()
@cube_argument
@json_option
def status(cube: str, as_json: bool) -> None:
    """Print how many tiles are done, failed and missing.

    The errors of failed tiles are printed too.
    """
    from rich.console import Console

    from storage import read_ledger
    from workflows.status import status_facts, status_table

    ledger = read_ledger(cube)
    if as_json:
        click.echo(json.dumps(status_facts(ledger), indent=2))
    else:
        Console().print(status_table(ledger))


@click.command()
@cube_argument
def summary(cube: str) -> None:
    """Compare the algorithms at their best exponents.

    There is a row for each configuration, and a table for each normalisation. If CUBE keeps
    labels, a last table shows what would be chosen without classes.
    """
    from rich.console import Console

    from pipeline.errors import PluginError
    from storage import open_cube
    from storage.query import unlabelled_configs
    from workflows.choice.overview import overview_tables
    from workflows.status import about_unlabelled
    from workflows.summary.tables import summary_tables
    from workflows.terminal import print_whole

    opened = open_cube(cube)
    for table in summary_tables(opened):
        print_whole(Console(), table)
    try:
        for table in overview_tables(cube):
            print_whole(Console(), table)
    except PluginError as error:  # all else of such a cube can be read
        click.echo(f"What would be chosen without classes is not shown. {error}")
    for line in about_unlabelled(unlabelled_configs(opened)):
        click.echo(line)


@click.command()
@cube_argument
@variable_option
@config_option
@normalisation_option
@where_option
@click.option(
    "--dataset",
    multiple=True,
    type=int,
    help="Select a data set by its number, from 0; repeatable. By default all.",
)
@click.option(
    "--p1",
    multiple=True,
    type=float,
    help="Select an exponent p1, which rescales; repeatable. By default all.",
)
@click.option(
    "--p2",
    multiple=True,
    type=float,
    help="Select an exponent p2, which clusters rescaled data; repeatable. By default all.",
)
@click.option("--best", is_flag=True, help="Print only the best exponents of each data set.")
@click.option(
    "--by",
    metavar="SCORE",
    help="With --best, choose the exponents by a score such as silhouette or info, as if no "
    "classes were known. By default by the variable itself.",
)
@click.option(
    "--average",
    is_flag=True,
    help="Print means over data sets. With --best, print the exponents with the best mean.",
)
@click.option(
    "--top",
    type=click.IntRange(1),
    metavar="N",
    help="Print only the N best rows, the best first. By default all rows.",
)
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of text.")
def query(cube: str, variable: str | None, as_json: bool, as_csv: bool, **options: Any) -> None:
    """Print results, means or the best exponents of CUBE."""
    from storage import open_cube
    from storage.query import main_variable, select
    from workflows.answers import Question, answer

    if as_json and as_csv:
        raise click.UsageError("Give only one of --json and --csv.")
    opened = open_cube(cube)
    if variable is None:
        variable = main_variable(select(opened, config=options["config"], where=options["where"]))
    question = Question(variable, **options)
    advice = "Select fewer, use --top, or print all rows with --csv or --json."
    print_rows(answer(opened, question), as_json=as_json, as_csv=as_csv, advice=advice)


@click.command()
@cube_argument
# The second argument of version 0.1 is accepted for one more release: imwk export CUBE OUT.
@old_argument("out", "--output")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="The .csv or .parquet file to make or replace.  [required]",
)
def export(cube: str, output: str | None) -> None:
    """Write all results of CUBE to a CSV or Parquet file.

    The file has one row for each result.
    """
    from storage import export_cube

    if output is None:
        raise click.UsageError("Give the file to write with --output FILE.")
    rows = export_cube(cube, output)
    click.echo(f"{rows:,} rows in {output}")


@click.command()
@cube_argument
@click.option(
    "--format",
    "style",
    type=click.Choice(TABLE_FORMATS),
    default="terminal",
    show_default=True,
    help="The format of the tables.",
)
def tables(cube: str, style: str) -> None:
    """Compute the paper's tables from CUBE, beside the published values.

    Only tables that CUBE has results for are printed.
    """
    from rich.console import Console

    from storage import open_cube
    from workflows.paper.comparison import closing_line, compare_with_paper
    from workflows.paper.formats import TEXT_FORMATS, print_tables

    rows = compare_with_paper(open_cube(cube))
    if style == "terminal":
        print_tables(rows, Console())
        return
    click.echo(TEXT_FORMATS[style](rows))
    if style == "csv":
        click.echo(closing_line(rows), err=True)  # on stderr, because it is not a row of the file


@click.command()
@click.argument(
    "cubes_or_algorithms", nargs=-1, required=True, metavar="CUBE (CUBE | FIRST SECOND)"
)
@click.option(
    "--algorithm",
    metavar="NAME",
    default="rescaled_imwk",
    show_default=True,
    help="The algorithm to compare in two cubes.",
)
@click.option(
    "--score",
    help="The score to compare, such as ari or silhouette. By default ari or, without labels, "
    "silhouette.",
)
@config_option
@normalisation_option
@click.option("--p1", type=float, help="Compare at this p1. By default at the best.")
@click.option("--p2", type=float, help="Compare at this p2. By default at the best.")
@click.option(
    "--average",
    is_flag=True,
    help="Take the exponents that are best on average over the data sets of a configuration. By "
    "default those that are best for each data set.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(TABLE_FORMATS),
    default="terminal",
    show_default=True,
    help="The format of the tables.",
)
@json_option
def compare(
    cubes_or_algorithms: tuple[str, ...], algorithm: str, style: str, as_json: bool, **options: Any
) -> None:
    """Compare two cubes, or two algorithms, over data sets.

    With two cubes, compare the same algorithm in both. With CUBE and two algorithms, such
    as rescaled_imwk and kmeans, compare these. Results are paired by data set: the mean
    difference, its standard error, and Wilcoxon's signed-rank test.
    """
    from rich.console import Console

    from workflows.pairs.comparing import compare as compared
    from workflows.pairs.formats import as_text, closing_lines, pair_sections

    first, *others = cubes_or_algorithms
    if len(others) not in (1, 2):
        raise click.UsageError("Give two cubes, or a cube and two algorithms.")
    if len(others) == 1:
        found = compared(first, others[0], (algorithm, algorithm), **options)
    else:
        found = compared(first, None, (others[0], others[1]), **options)
    if as_json or style != "terminal":
        click.echo(as_text(found, "json" if as_json else style))
        return
    for section in pair_sections(found):
        section.print(Console())
    click.echo("\n".join(closing_lines(found)))


def print_rows(
    rows: "pd.DataFrame",
    *,
    as_json: bool,
    as_csv: bool,
    advice: str = "Print all rows with --csv or --json.",
) -> None:
    """Print all rows for programs, or the first ones as a table, with advice how to see all."""
    from rich.console import Console

    from workflows.answers import answer_table, json_pieces
    from workflows.terminal import print_whole

    if as_json:
        for piece in json_pieces(rows):
            click.echo(piece, nl=False)
        click.echo()
    elif as_csv:
        click.echo(rows.to_csv(index=False), nl=False)
    else:
        print_whole(Console(), answer_table(rows, advice))


#: The commands of this module, for the group `imwk`.
COMMANDS = (status, summary, query, export, tables, compare)
