"""The command `imwk`: thin; parses, calls, prints."""

import click
from rich.console import Console
from rich.progress import track
from rich.table import Table

from pipeline.datasets import CONFIGURATIONS
from workflows.quick import EXPONENTS, RESTARTS, Comparison, quick_comparison


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="imwk-sweep", prog_name="imwk")
def main() -> None:
    """Sweeps of intelligent Minkowski weighted k-means and feature rescaling."""


@main.command()
def quick() -> None:
    """Compare the paper's four algorithms on one data set of each configuration."""
    console = Console()
    steps = track(
        quick_comparison(),
        total=len(CONFIGURATIONS),
        description="Clustering",
        console=Console(stderr=True),
        transient=True,
    )
    console.print(_comparison_table(list(steps)))


def _comparison_table(rows: list[Comparison]) -> Table:
    exponents = ", ".join(f"{p:g}" for p in EXPONENTS)
    table = Table(
        title="Adjusted Rand index, range normalisation, one data set of each configuration",
        caption=f"k-means++: mean of {RESTARTS} restarts; imwk-means and the data it rescales: "
        f"best of the exponents {exponents}.",
    )
    table.add_column("configuration", no_wrap=True)
    for name in ("k-means++", "rescaled", "imwk-means", "rescaled"):
        table.add_column(name, justify="right")
    for row in rows:
        values = (row.kmeans, row.rescaled_kmeans, row.imwk, row.rescaled_imwk)
        table.add_row(row.config, *(f"{value:.3f}" for value in values))
    return table
