"""Commands that check and repair a cube."""

import json

import click

from workflows.cli.exit_codes import FAILED, end
from workflows.cli.options import cube_argument, json_option


@click.command()
@cube_argument
@click.option(
    "--repair", is_flag=True, help="Mark damaged tiles as missing, so that submit computes them."
)
@click.option(
    "--recompute",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="Compute N random tiles again, and compare every bit.",
)
@json_option
def verify(cube: str, repair: bool, recompute: int, as_json: bool) -> None:
    """Read every result of CUBE, and list damaged tiles."""
    from workflows.check import check, check_facts, check_words

    found = check(cube, repair=repair, recompute_tiles=recompute)
    click.echo(json.dumps(check_facts(found), indent=2) if as_json else check_words(found))
    end(FAILED if found.is_bad else 0)


#: The commands of this module, for the group `imwk`.
COMMANDS = (verify,)
