"""Commands that choose among the results of a cube, and add scores for that."""

import json
from pathlib import Path
from typing import Any

import click

from workflows.cli.options import cube_argument, json_option


@click.command()
@cube_argument
@click.option("--config", help="Choose for this configuration only. By default for all.")
@click.option(
    "--dataset",
    type=int,
    help="Choose for this data set only, by its number from 0. By default all.",
)
@click.option(
    "--ensemble",
    is_flag=True,
    help="Add the consensus of the best runs by info. It needs 3 features and 5 runs.",
)
@click.option(
    "--labels",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Add what the classes of a few rows pick: a .csv file with row numbers, from 1, and "
    "classes. By default no classes are used.",
)
@json_option
def choose(cube: str, as_json: bool, **options: Any) -> None:
    """Choose exponents and a normalisation without classes.

    For each data set, every rule picks among the runs of imwk-means, with and without
    rescaling, and k-means++, of all normalisations. A table with several numbers of
    clusters gets a comparison of these. CUBE must keep labels, as cubes of your own data
    do by default; others are refused with exit code 2.
    """
    from rich.console import Console

    from storage import read_ledger, read_spec
    from workflows.choice import choose as chosen
    from workflows.choice.cluster_counts import choose_counts, counts_not_compared
    from workflows.choice.shown import (
        choice_lines,
        choice_tables,
        choices_facts,
        counts_lines,
        counts_table,
        progress_lines,
    )
    from workflows.terminal import print_whole

    found, spec = chosen(cube, **options), read_spec(cube)
    counts = choose_counts(spec, found)
    tiles = read_ledger(cube).counts_of(options["config"], options["dataset"])
    if as_json:
        facts = choices_facts(found, counts, tiles)
        click.echo(json.dumps(facts, indent=2, ensure_ascii=False))
        return
    for line in progress_lines(tiles):
        click.echo(line)
    for each in found:
        for table in choice_tables(each):
            print_whole(Console(), table)
        for line in choice_lines(each):
            click.echo(line)
    for count in counts:
        print_whole(Console(), counts_table(count))
        for line in counts_lines(count):
            click.echo(line)
    for line in counts_not_compared(spec, found):
        click.echo(line)


@click.command()
@cube_argument
@click.option(
    "--add",
    metavar="SCORE",
    multiple=True,
    required=True,
    help="A score to add, as in the key scores of a spec: silhouette, calinski-harabasz, info, "
    "davies-bouldin, ami, nmi or one of a plug-in; repeatable.",
)
def score(cube: str, add: tuple[str, ...]) -> None:
    """Add scores to CUBE from the labels that it keeps.

    Labels of k-means++ restarts and clusterers are not kept, so these run again, with
    imwk-means at every p1 that rescales for them. For small tables that can be half of the
    sweep's time; imwk-means at p2 does not run again. A kill leaves the cube as it was, or
    with all new scores. Do not add scores while a sweep writes to the cube.
    """
    from workflows.choice.rescoring import score_cube

    new = score_cube(cube, add)
    click.echo(f"added: {', '.join(new)}" if new else "the cube has these scores already")


#: The commands of this module, for the group `imwk`.
COMMANDS = (choose, score)
