"""The command that writes a page to explore a cube with."""

import click


@click.command()
@click.argument("cube")
@click.option(
    "-o", "--output", default="report.html", show_default=True, help="File to make or replace."
)
def report(cube: str, output: str) -> None:
    """Write one page to explore CUBE with, in any browser and without network."""
    from workflows.report import write_report

    size = write_report(cube, output)
    click.echo(f"{output}: {size / 1e6:.1f} MB, open it in a browser")


#: Of the group `imwk`.
COMMANDS = (report,)
