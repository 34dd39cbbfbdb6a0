"""The command that clusters one table; thin, it imports what it needs."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workflows.cli.data import table_options

if TYPE_CHECKING:
    from workflows.clustering import Clustering


@click.command()
@click.argument("table")
@click.option("--p1", type=float, help="Exponent of imwk-means; 2 unless given.")
@click.option("--p2", type=float, help="Rescale at p1, then cluster at this exponent.")
@click.option("--normalisation", help="Of every feature; range unless given.")
@click.option("--centre", help="Exact, unless fixed-step is given, as the authors'.")
@click.option("--config", help="Which table of a cube that has several.")
@table_options
@click.option("-o", "--out", type=click.Path(path_type=Path), help="CSV file for the labels.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
def cluster(table: str, out: Path | None, as_json: bool, **options: Any) -> None:
    """Cluster TABLE once, without a sweep: a .csv, .tsv, .parquet or .npz file.

    Or a cube with such a table, at the exponents and the normalisation that are best
    in it: by ARI or, without labels, by silhouette. Give some, and the rest is chosen.
    """
    from workflows.clustering import clustering_facts, write_labels

    if out is not None:
        _refuse_unfit_output(Path(table), out)
    given = {name: value for name, value in options.items() if value not in (None, ())}
    words, found = (_best if _is_cube(table) else _cluster)(table, **given)
    if out is not None:
        write_labels(found, out)
    if as_json:
        click.echo(json.dumps(clustering_facts(found), indent=2, ensure_ascii=False))
    else:
        _show(words, found, out)


def _is_cube(table: str) -> bool:
    from storage.backends.location import is_url

    path = Path(table)
    return is_url(table) or path.is_dir() or path.suffix.lower() == ".zarr"


def _cluster(
    table: str,
    missing: str,
    label: str | None = None,
    ignore: tuple[str, ...] = (),
    k: int | None = None,
    p1: float = 2.0,
    **options: Any,
) -> tuple[str, "Clustering"]:
    from pipeline.datasets import read_table
    from workflows.clustering import cluster_table

    if "config" in options:
        raise click.UsageError("--config goes with a cube.")
    data = read_table(table, label, missing=missing, ignore=ignore)
    return "", cluster_table(data, k, p1, **options)


def _best(cube: str, missing: str, **options: Any) -> tuple[str, "Clustering"]:
    from workflows.best_clustering import best_choice, best_clustering

    foreign = {"label", "k", "ignore", "centre"} & {*options}
    if foreign or missing != "refuse":
        name = min(foreign, default="missing")
        raise click.UsageError(f"--{name} goes with a file; a cube has its own.")
    best = best_choice(cube, **options)
    return f"{best}\n\n", best_clustering(cube, best)


def _show(words: str, found: "Clustering", out: Path | None) -> None:
    from rich.console import Console

    from workflows.clustering import score_words, weight_tables
    from workflows.terminal import print_whole

    for notice in found.notices:
        click.echo(notice, err=True)
    click.echo(words, nl=False)
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
