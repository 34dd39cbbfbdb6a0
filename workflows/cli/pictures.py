"""Commands that draw: heatmaps and scatter; thin, they import what they need."""

from pathlib import Path
from typing import Any

import click

from workflows.cli.data import table_options
from workflows.cli.query import variable_option

PICTURE_FORMATS = ["png", "svg", "pdf"]


@click.command()
@click.argument("cube")
@click.option(
    "-o", "--output", "folder", required=True, metavar="DIR", help="Folder for the pictures."
)
@click.option(
    "--format",
    "style",
    type=click.Choice(PICTURE_FORMATS),
    default="png",
    show_default=True,
    help="Format of the pictures.",
)
@click.option("--config", multiple=True, help="Configuration; may be repeated, as all below.")
@click.option("--normalisation", multiple=True, help="Normalisation.")
@variable_option
def heatmaps(
    cube: str,
    folder: str,
    style: str,
    config: tuple[str, ...],
    normalisation: tuple[str, ...],
    variable: str | None,
) -> None:
    """Draw means of CUBE over p1 and p2, an ARI white where k-means++ is not beaten."""
    from storage import open_cube
    from storage.query import main_variable, select
    from workflows.plots.heatmaps import mean_grids, write_heatmaps

    chosen = select(open_cube(cube), config=config, normalisation=normalisation)
    grids = mean_grids(chosen, variable or main_variable(chosen)).compute()
    for path in write_heatmaps(grids, folder, style):
        click.echo(path)


@click.command()
@click.argument("data")
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture, a .png, .svg or .pdf file.",
)
@click.option("--normalisation", default="range", show_default=True, help="Normalisation.")
@click.option("--p1", default=1.5, show_default=True, help="Exponent that rescales.")
@click.option("--dataset", type=int, help="Of a synthetic configuration, from 0; 0 unless given.")
@click.option("--seed", type=int, help="Of the synthetic data; 2020 unless given.")
@table_options
def scatter(
    data: str, file: Path, normalisation: str, p1: float, k: int | None, **options: Any
) -> None:
    """Draw DATA before and after rescaling, coloured by class or else by cluster.

    DATA is a .csv, .tsv, .parquet or .npz file, a synthetic configuration such as
    1000x6-3, or one of the data sets that imwk datasets list shows.
    """
    from workflows.clustering import cluster_table
    from workflows.named_data import named_table
    from workflows.plots.scatter import draw_clustering
    from workflows.plots.style import style_of, write_figure

    style = style_of(file)
    name, table = named_table(data, **options)
    found = cluster_table(table, k, p1, normalisation=normalisation)
    for notice in found.notices:
        click.echo(notice, err=True)
    write_figure(draw_clustering(found, name), file, style)
    click.echo(file)


#: Of the group `imwk`.
COMMANDS = (heatmaps, scatter)
