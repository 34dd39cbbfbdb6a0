"""Commands that draw: heatmaps and scatter; thin, they import what they need."""

from pathlib import Path

import click

from workflows.commands_query import variable_option

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
    """Draw means of CUBE over p1 and p2; an ARI is white where it does not beat k-means++."""
    from storage import open_cube
    from storage.choice import main_variable
    from storage.errors import storage_errors
    from storage.query import select
    from workflows.heatmaps import mean_grids, write_heatmaps

    chosen = select(open_cube(cube), config=config, normalisation=normalisation)
    grids = mean_grids(chosen, variable or main_variable(chosen))
    with storage_errors(f"read the cube {cube}"):
        grids = grids.compute()
    for path in write_heatmaps(grids, folder, style):
        click.echo(path)


@click.command()
@click.argument("config")
@click.option(
    "-o",
    "--output",
    "file",
    required=True,
    type=click.Path(path_type=Path),
    help="The picture, a .png, .svg or .pdf file.",
)
@click.option("--dataset", default=0, show_default=True, help="Number of the data set, from 0.")
@click.option("--seed", default=2020, show_default=True, help="Seed of the sweep.")
@click.option("--normalisation", default="range", show_default=True, help="Normalisation.")
@click.option("--p1", default=1.5, show_default=True, help="Exponent that rescales.")
@click.option("--k", type=int, help="Number of clusters; that of the classes unless given.")
def scatter(
    config: str, file: Path, dataset: int, seed: int, normalisation: str, p1: float, k: int | None
) -> None:
    """Draw a data set of CONFIG before and after rescaling, coloured by class."""
    from pipeline.datasets import synthetic_dataset
    from workflows.figures import style_of, write_figure
    from workflows.scatter import draw_dataset

    style = style_of(file)
    data = synthetic_dataset(config, dataset, seed)
    figure = draw_dataset(data, f"{config}, data set {dataset}", normalisation, p1, k)
    write_figure(figure, file, style)
    click.echo(file)


#: Of the group `imwk`.
COMMANDS = (heatmaps, scatter)
