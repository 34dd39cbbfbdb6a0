"""The command `imwk`: thin; parses, calls, prints. Commands import what they need when called."""

import json
from typing import Any

import click

from workflows.cli import cluster, data, pictures, query, report, run
from workflows.cli.data import chosen_sweep, data_options
from workflows.cli.exit_codes import EPILOG, FAILED, INTERRUPTED, code_of, end
from workflows.cli.options import json_option, workers_option

cube_argument = click.argument("cube")


class _Group(click.Group):
    """Ends every error that is ours in a message and an exit code, never in a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(
                "Interrupted. Tiles that are done are safe: submit again to go on.", err=True
            )
            ctx.exit(INTERRUPTED)
        except Exception as error:
            raise _in_words(error) from error


def _in_words(error: Exception) -> Exception:
    from pipeline.core.errors import ImwkError

    if not isinstance(error, ImwkError):
        return error
    said = click.ClickException(str(error))
    said.exit_code = code_of(error)  # type: ignore[misc] # of this one alone
    return said


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="imwk-sweep", prog_name="imwk")
def main() -> None:
    """Sweeps of intelligent Minkowski weighted k-means and feature rescaling.

    SPEC is a TOML file or the name of a preset; CUBE is the folder
    with the results, or a URL such as s3://bucket/cube.zarr.
    """


@main.command()
@click.argument("name", required=False)
def presets(name: str | None) -> None:
    """List the presets, or print one as TOML to start from."""
    from workflows.presets import PRESETS, preset_text

    click.echo("\n".join(PRESETS) if name is None else preset_text(name), nl=name is None)


@main.command()
@click.argument("spec", required=False)
@data_options
@workers_option
@json_option
def plan(spec: str | None, workers: int | None, as_json: bool, **data: Any) -> None:
    """Say what a sweep will do and cost, from a few timed runs."""
    from dask.system import CPU_COUNT

    from pipeline.execution.plan import make_plan

    sweep = chosen_sweep(spec, **data)
    made = make_plan(sweep.spec, CPU_COUNT if workers is None else workers, tables=sweep.tables)
    click.echo(made.to_json() if as_json else made)


@main.command()
@cube_argument
@json_option
def status(cube: str, as_json: bool) -> None:
    """Say how many tiles are done, failed and missing, and why they failed."""
    from rich.console import Console

    from storage import read_ledger
    from workflows.status import status_facts, status_table

    ledger = read_ledger(cube)
    if as_json:
        click.echo(json.dumps(status_facts(ledger), indent=2))
    else:
        Console().print(status_table(ledger))


@main.command()
@cube_argument
def summary(cube: str) -> None:
    """Compare the algorithms, each at its best exponents, by configuration."""
    from rich.console import Console

    from storage import open_cube
    from workflows.status import about_unlabelled
    from workflows.summary import summary_tables
    from workflows.terminal import print_whole

    opened = open_cube(cube)
    for table in summary_tables(opened):
        print_whole(Console(), table)
    for line in about_unlabelled(opened.attrs["unlabelled"]):
        click.echo(line)


@main.command()
@cube_argument
@click.option("--repair", is_flag=True, help="Mark damaged tiles missing, to be computed again.")
@click.option(
    "--recompute",
    metavar="N",
    type=click.IntRange(min=0),
    default=0,
    help="Compute N random tiles again, and compare every bit.",
)
@json_option
def verify(cube: str, repair: bool, recompute: int, as_json: bool) -> None:
    """Read every result of a cube, and say which tiles are damaged."""
    from workflows.verify import check, check_facts, check_words

    found = check(cube, repair=repair, recompute_tiles=recompute)
    click.echo(json.dumps(check_facts(found), indent=2) if as_json else check_words(found))
    end(FAILED if found.is_bad else 0)


for _commands in (run, query, pictures, report, data, cluster):
    for _command in _commands.COMMANDS:
        main.add_command(_command)
