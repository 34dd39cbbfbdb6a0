"""The command that clusters one table, without a sweep."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workflows.cli.old_names import old_option
from workflows.cli.options import json_option, table_options

if TYPE_CHECKING:
    from workflows.clustering import Clustering

    #: What was chosen in a cube, as words and for JSON, and the clustering.
    _Found = tuple[str, dict[str, Any], Clustering]

_file = click.Path(path_type=Path)


@click.command()
@click.argument("table")
@click.option(
    "--p1",
    type=float,
    help="The exponent of imwk-means. The default is 2, or the best of a cube, where all runs with "
    "this p1 compete, also rescaled ones.",
)
@click.option(
    "--p2",
    type=float,
    help="Rescale at p1, then cluster at this exponent. By default a file is not rescaled; "
    "for a cube, its best p2 is used.",
)
@click.option(
    "--normalisation",
    help="The normalisation of every feature. The default is range, or the best of a cube.",
)
@click.option(
    "--centre",
    help="How centres are computed: exact, or fixed-step as the authors do. The default is exact, "
    "or that of a cube.",
)
@click.option("--config", help="The table of a cube. Required if the cube has several.")
@click.option(
    "--by",
    metavar="RULE",
    help="What chooses in a cube: a score such as info, central, silhouette or ari; k-means++, the "
    "baseline; ensemble, the consensus of the best runs; advice, what imwk choose advises. The "
    "default is info or, below 3 features, silhouette.",
)
@table_options
# --out is the name of --output in version 0.1. It is accepted for one more release.
@old_option("--out", "--output", type=_file)
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=_file,
    help="The .csv file for the labels. By default none is written.",
)
@json_option
def cluster(table: str, output: Path | None, as_json: bool, **options: Any) -> None:
    """Cluster a table, or the table of a cube.

    TABLE is a .csv, .tsv, .arff, .data, .parquet, .npz or .mat file, a set of an
    imported battery such as wut/circles, or a cube that contains a table. Of a cube,
    the run is shown that is best by a rule, as imwk choose compares them, beside
    k-means++. The advice of imwk choose is printed where it takes another run. In a cube
    that keeps no labels, the best rescaled run is chosen: by ARI or, without classes, by
    silhouette. Options restrict the choice.
    """
    from workflows.clustering import clustering_facts, write_labels

    if output is not None:
        _refuse_unfit_output(Path(table), output)
    given = {name: value for name, value in options.items() if value not in (None, ())}
    words, chosen, found = (_best if _is_cube(table) else _cluster)(table, **given)
    if output is not None:
        write_labels(found, output)
    if as_json:
        facts = {**clustering_facts(found), **chosen}
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
    else:
        _show(words, found, output)


def _is_cube(table: str) -> bool:
    path = Path(table)
    return "://" in table or path.is_dir() or path.suffix.lower() == ".zarr"


def _cluster(
    table: str,
    missing: str,
    no_header: bool,
    label: str | None = None,
    ignore: tuple[str, ...] = (),
    k: int | None = None,
    p1: float = 2.0,
    **options: Any,
) -> "_Found":
    from workflows.clustering import cluster_table
    from workflows.named_data import own_table

    for name in {"config", "by"} & {*options}:
        raise click.UsageError(f"--{name} needs a cube, and a file was given.")
    _, data = own_table(table, label, missing=missing, ignore=ignore, header=not no_header)
    return "", {}, cluster_table(data, k, p1, **options)


def _best(cube: str, missing: str, no_header: bool, **options: Any) -> "_Found":
    from workflows.best_clustering import best_choice, choice_facts, cluster_best

    foreign = {"label", "k", "ignore", "centre"} & {*options}
    if foreign or no_header or missing != "refuse":
        name = min(foreign, default="no-header" if no_header else "missing")
        raise click.UsageError(f"--{name} is for files. For a cube, the sweep has set it already.")
    best = best_choice(cube, **options)
    return f"{best}\n\n", choice_facts(best), cluster_best(cube, best)


def _show(words: str, found: "Clustering", output: Path | None) -> None:
    from rich.console import Console

    from workflows.clustering import score_line, weight_tables
    from workflows.terminal import print_whole

    for notice in found.notices:
        click.echo(notice, err=True)
    click.echo(words, nl=False)
    for table in weight_tables(found, advice="Print all with --json."):
        print_whole(Console(), table)
    click.echo(score_line(found))
    if output is not None:
        click.echo(f"labels of {len(found.labels):,} rows in {output}")


def _refuse_unfit_output(table: Path, output: Path) -> None:
    """Refuse a file that cannot be written, before anything is computed."""
    problem = None
    if output.suffix.lower() != ".csv":
        problem = f"{output} does not end in .csv."
    elif output.exists() and table.exists() and output.samefile(table):
        problem = f"{output} is the table itself."
    elif not output.parent.is_dir():
        problem = f"{output.parent} is not a folder."
    if problem is not None:
        raise click.BadParameter(problem, param_hint="--output")


#: The commands of this module, for the group `imwk`.
COMMANDS = (cluster,)
