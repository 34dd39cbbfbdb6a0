"""The command that clusters one table; thin, it imports what it needs."""

import json
from pathlib import Path
from typing import Any

import click

from workflows.commands_data import table_options


@click.command()
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--p1", type=float, default=2.0, show_default=True, help="Exponent of imwk-means.")
@click.option("--p2", type=float, help="Rescale at p1, then cluster at this exponent.")
@click.option("--normalisation", default="range", show_default=True, help="Of every feature.")
@click.option("--centre", default="exact", show_default=True, help="Or fixed-step, as the authors.")
@table_options
@click.option("-o", "--out", type=click.Path(path_type=Path), help="CSV file for the labels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def cluster(
    table: Path,
    k: int | None,
    label: str | None,
    missing: str,
    ignore: tuple[str, ...],
    out: Path | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Cluster TABLE once, without a sweep: a .csv, .tsv, .parquet or .npz file."""
    from pipeline.datasets.table import read_table
    from workflows.clustering import cluster_table, clustering_facts, write_labels

    if out is not None:
        _refuse_unfit_output(table, out)
    data = read_table(table, label, missing=missing, ignore=ignore)
    found = cluster_table(data, k, **options)
    if out is not None:
        write_labels(found, out)
    if as_json:
        click.echo(json.dumps(clustering_facts(found), indent=2, ensure_ascii=False))
    else:
        _show(found, out)


def _show(found: Any, out: Path | None) -> None:
    from rich.console import Console

    from workflows.clustering import score_words, weight_tables
    from workflows.terminal import print_whole

    for notice in found.notices:
        click.echo(notice, err=True)
    for table in weight_tables(found):
        print_whole(Console(), table)
    click.echo(score_words(found))
    if out is not None:
        click.echo(f"labels of {len(found.labels):,} rows in {out}")


def _refuse_unfit_output(table: Path, out: Path) -> None:
    """Say it before anything is computed."""
    if out.suffix.lower() != ".csv":
        raise click.BadParameter(f"{out} does not end in .csv.", param_hint="--out")
    if out.exists() and table.exists() and out.samefile(table):
        raise click.BadParameter(f"{out} is the table itself.", param_hint="--out")
    if not out.parent.is_dir():
        raise click.BadParameter(f"{out.parent} is no folder.", param_hint="--out")


#: Of the group `imwk`.
COMMANDS = (cluster,)
