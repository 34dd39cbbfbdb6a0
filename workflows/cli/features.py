"""The command that ranks features by their weights."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workflows.cli.options import config_option, cube_argument, json_option, normalisation_option

if TYPE_CHECKING:
    import xarray as xr
    from rich.table import Table

#: More features are not shown in the terminal.
LONGEST_TABLE = 40


@click.command()
@cube_argument
@config_option
@normalisation_option
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Also draw them to a .png, .svg or .pdf file, which is made or replaced.",
)
@json_option
def features(
    cube: str,
    config: tuple[str, ...],
    normalisation: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> None:
    """Rank the features by their weights.

    The weights are those of imwk-means before rescaling, which CUBE must keep. The
    median and the quartiles are over clusters, exponents p1, normalisations and data
    sets. For synthetic data with noise features, the share of them in the last places
    is printed too.
    """
    from rich.console import Console

    from storage import ranked_features, read_spec
    from workflows.terminal import print_whole

    ranked = [
        ranked_features(cube, config=each, normalisation=normalisation or None)
        for each in dict.fromkeys(config or read_spec(cube).configs)
    ]
    if output is not None:
        _draw(ranked, output)
    if as_json:
        click.echo(json.dumps([_facts(each) for each in ranked], indent=2, ensure_ascii=False))
        return
    for each in ranked:
        print_whole(Console(), _table(each))
    if output is not None:
        click.echo(output)


def _draw(ranked: "list[xr.Dataset]", output: Path) -> None:
    from workflows.plots.features import draw_features
    from workflows.plots.style import style_of, write_figure

    style = style_of(output)
    write_figure(draw_features(ranked), output, style)


def _facts(ranked: "xr.Dataset") -> dict[str, Any]:
    """Return the ranking for JSON."""
    columns = ranked.drop_vars(["noise_last", "config"], errors="ignore").to_dataframe()
    rows = columns.reset_index().to_dict("records")
    facts: dict[str, Any] = {"config": ranked.config.item(), "features": rows}
    return facts | ({"noise_last": ranked.noise_last.item()} if "noise_last" in ranked else {})


def _table(ranked: "xr.Dataset") -> "Table":
    from workflows.terminal import as_table

    facts, quartiles = _facts(ranked), ("median", "lower", "upper")
    rows = [
        [str(place), _name(row), *(f"{row[name]:.4f}" for name in quartiles)]
        for place, row in enumerate(facts["features"][:LONGEST_TABLE], 1)
    ]
    header = ["place", "feature", "median weight", "lower quartile", "upper quartile"]
    return as_table(facts["config"], header, rows, ["feature"], _caption(ranked))


def _name(row: dict[str, Any]) -> str:
    return f"{row['feature']} (noise)" if row.get("noise") else str(row["feature"])


def _caption(ranked: "xr.Dataset") -> str | None:
    lines, more = [], ranked.sizes["feature"] - LONGEST_TABLE
    if more > 0:
        lines.append(f"{more:,} more features are not shown. Print all with --json.")
    if "noise_last" in ranked:
        count = int(ranked.noise.sum())
        share = ranked.noise_last.item()
        lines.append(f"{share:.0%} of the noise features are in the last {count} places.")
    return "\n".join(lines) or None


#: The commands of this module, for the group `imwk`.
COMMANDS = (features,)
