"""Commands that ask a cube: query, export and tables; thin, they import what they need."""

from typing import Any

import click

TABLE_FORMATS = ["terminal", "markdown", "csv", "latex"]

variable_option = click.option(
    "--variable",
    help="The result; rescaled_imwk_ari or, without labels, rescaled_imwk_silhouette unless given.",
)


@click.command()
@click.argument("cube")
@variable_option
@click.option("--config", multiple=True, help="Configuration; may be repeated, as all below.")
@click.option("--normalisation", multiple=True, help="Normalisation.")
@click.option("--dataset", multiple=True, type=int, help="Number of a data set, from 0.")
@click.option("--p1", multiple=True, type=float, help="Exponent that rescales.")
@click.option("--p2", multiple=True, type=float, help="Exponent on rescaled data.")
@click.option("--best", is_flag=True, help="Only the best exponents of each data set.")
@click.option(
    "--by",
    metavar="SCORE",
    help="With --best: choose by silhouette or calinski-harabasz, as if no classes were known.",
)
@click.option("--average", is_flag=True, help="Means over data sets; with --best the best mean.")
@click.option("--top", type=click.IntRange(1), help="Only so many rows, the highest first.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
def query(cube: str, variable: str | None, as_json: bool, as_csv: bool, **options: Any) -> None:
    """Ask CUBE for results, their means or the best exponents."""
    from rich.console import Console

    from storage import open_cube
    from storage.query import main_variable, select
    from workflows.answers import Question, answer, answer_table, ask, json_pieces
    from workflows.terminal import print_whole

    if as_json and as_csv:
        raise click.UsageError("Choose one of --json and --csv.")
    opened = open_cube(cube)
    if variable is None:
        variable = main_variable(select(opened, config=options["config"]))
    question = Question(variable, **options)
    rows = answer(ask(opened, question), question)
    if as_json:
        for piece in json_pieces(rows):
            click.echo(piece, nl=False)
        click.echo()
    elif as_csv:
        click.echo(rows.to_csv(index=False), nl=False)
    else:
        print_whole(Console(), answer_table(rows))


@click.command()
@click.argument("cube")
@click.argument("out")
def export(cube: str, out: str) -> None:
    """Write all results of CUBE to OUT, a .csv or .parquet file, one row for each."""
    from storage import export_cube

    rows = export_cube(cube, out)
    click.echo(f"{rows:,} rows in {out}")


@click.command()
@click.argument("cube")
@click.option(
    "--format",
    "style",
    type=click.Choice(TABLE_FORMATS),
    default="terminal",
    show_default=True,
    help="How to print the tables.",
)
def tables(cube: str, style: str) -> None:
    """Print the paper's tables from CUBE beside the published figures."""
    from rich.console import Console

    from storage import open_cube
    from workflows.paper.comparison import closing_line, compare_with_paper
    from workflows.paper.formats import TEXT_FORMATS, as_terminal

    rows = compare_with_paper(open_cube(cube))
    if style == "terminal":
        as_terminal(rows, Console())
        return
    click.echo(TEXT_FORMATS[style](rows))
    if style == "csv":
        click.echo(closing_line(rows), err=True)  # no row of the file


#: Of the group `imwk`.
COMMANDS = (query, export, tables)
