"""Commands that draw figures and write the report."""

from pathlib import Path
from typing import Any

import click

from workflows.cli.options import (
    config_option,
    cube_argument,
    json_option,
    normalisation_option,
    table_options,
    variable_option,
    where_option,
)
from workflows.cli.results import print_rows

PICTURE_FORMATS = ["png", "svg", "pdf"]


@click.command()
@cube_argument
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    help="The folder for the files, which is made if it is missing.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(PICTURE_FORMATS),
    default="png",
    show_default=True,
    help="The format of the files.",
)
@config_option
@normalisation_option
@where_option
@variable_option
def heatmaps(
    cube: str,
    output: str,
    style: str,
    config: tuple[str, ...],
    normalisation: tuple[str, ...],
    where: dict[str, list[str]],
    variable: str | None,
) -> None:
    """Draw heatmaps of a result by p1 and p2, averaged over data sets.

    There is a file for each normalisation, with a panel for each configuration. An
    ARI is white where it does not beat k-means++.
    """
    from storage import open_cube
    from storage.query import main_variable, select
    from workflows.plots.heatmaps import mean_grids, write_heatmaps

    chosen = select(open_cube(cube), config=config, normalisation=normalisation, where=where)
    grids = mean_grids(chosen, variable or main_variable(chosen)).compute()
    for path in write_heatmaps(grids, output, style):
        click.echo(path)


@click.command()
@cube_argument
@click.option(
    "--over",
    default="noise_share",
    show_default=True,
    metavar="NAME",
    help="The number along the curves: n, m, k or noise_share of the configurations.",
)
@click.option(
    "-o",
    "--output",
    metavar="DIR",
    help="The folder for the figures, which is made if it is missing. By default a table is "
    "printed.",
)
@click.option(
    "--format",
    "style",
    type=click.Choice(PICTURE_FORMATS),
    default="png",
    show_default=True,
    help="The format of the figures.",
)
@config_option
@normalisation_option
@where_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of text.")
def curves(
    cube: str,
    over: str,
    output: str | None,
    style: str,
    as_json: bool,
    as_csv: bool,
    **selected: Any,
) -> None:
    """Draw the mean ARI against a number of the data.

    There is a file for each normalisation, with a panel for each combination of the
    other numbers in which configurations differ. Exponents are those that are best on
    average over the data sets of each point.
    """
    from storage import open_cube
    from storage.query import select
    from workflows.summary.curve_points import curve_points

    if as_json + as_csv + (output is not None) > 1:
        raise click.UsageError("Give only one of --output, --json and --csv.")
    if output is not None:
        import workflows.plots.curves as drawn  # before anything is read, because it is an extra
    points = curve_points(select(open_cube(cube), **selected), over)
    if output is None:
        print_rows(points, as_json=as_json, as_csv=as_csv)
        return
    for path in drawn.write_curves(points, over, output, style):
        click.echo(path)


@click.command()
@click.argument("data")
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The .png, .svg or .pdf file to make or replace.",
)
@click.option(
    "--normalisation", default="range", show_default=True, help="The normalisation of the data."
)
@click.option("--p1", default=1.5, show_default=True, help="The exponent that rescales.")
@click.option(
    "--dataset",
    type=int,
    help="The number of a data set of a synthetic configuration, from 0. The default is 0.",
)
@click.option("--seed", type=int, help="The seed of synthetic data. The default is 2020.")
@table_options
def scatter(
    data: str,
    output: Path,
    normalisation: str,
    p1: float,
    k: int | None,
    no_header: bool,
    **options: Any,
) -> None:
    """Draw a data set before and after rescaling.

    DATA is a .csv, .tsv, .arff, .data, .parquet, .npz or .mat file, a synthetic
    configuration such as 1000x6-3, or one of the data sets that imwk datasets list
    prints. Colours show the classes or, without classes, the clusters.
    """
    from workflows.clustering import cluster_table
    from workflows.named_data import named_table
    from workflows.plots.scatter import draw_clustering
    from workflows.plots.style import style_of, write_figure

    style = style_of(output)
    name, table = named_table(data, header=not no_header, **options)
    found = cluster_table(table, k, p1, normalisation=normalisation)
    for notice in found.notices:
        click.echo(notice, err=True)
    write_figure(draw_clustering(found, name), output, style)
    click.echo(output)


@click.command()
@cube_argument
@click.option(
    "-o",
    "--output",
    default="report.html",
    show_default=True,
    metavar="FILE",
    help="The .html file to make or replace.",
)
def report(cube: str, output: str) -> None:
    """Write an HTML page for exploring CUBE.

    The page is one file that works in any browser, without network.
    """
    from workflows.report import write_report

    size = write_report(cube, output)
    click.echo(f"{output}: {size / 1e6:.1f} MB, open it in a browser")


#: The commands of this module, for the group `imwk`.
COMMANDS = (heatmaps, curves, scatter, report)
