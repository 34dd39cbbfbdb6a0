"""The command `imwk`: thin; parses, calls, prints. Commands import what they need when called."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from workflows import commands_cluster, commands_query
from workflows.commands_data import chosen_sweep, data_options, datasets, show_notices

if TYPE_CHECKING:
    from pipeline.draft import Sweep
    from workflows.sweep import SweepReport

FAILED, REFUSED, LOST, INTERRUPTED = 1, 2, 3, 130

EPILOG = f"""\b
Exit codes:
  0    all is well
  {FAILED}    some tiles failed, are damaged or differ; the rest is in the cube
  {REFUSED}    refused: a wrong option, spec or cube, or a cube that cannot be written
  {LOST}    the scheduler was lost; submit again to go on
  {INTERRUPTED}  interrupted; submit again to go on"""

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


class _Refused(click.ClickException):
    exit_code = REFUSED


class _Lost(click.ClickException):
    exit_code = LOST


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
    from pipeline.graph import ClusterLostError

    return _Lost(str(error)) if isinstance(error, ClusterLostError) else _Refused(str(error))


json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")
workers_option = click.option(
    "--workers",
    type=click.IntRange(min=1),
    help="Processes of one thread on this machine; one for each core unless given.",
)
spec_argument = click.argument("spec")
cube_argument = click.argument("cube", type=click.Path(path_type=Path))


def run_options(command: AnyFunction) -> AnyFunction:
    """Add the options of all commands that compute."""
    scheduler = click.option(
        "--scheduler", metavar="ADDRESS", help="Use the workers of this Dask scheduler instead."
    )
    return workers_option(scheduler(json_option(command)))


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="imwk-sweep", prog_name="imwk")
def main() -> None:
    """Sweeps of intelligent Minkowski weighted k-means and feature rescaling.

    SPEC is a TOML file or the name of a preset; CUBE is the folder with the results.
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

    from pipeline.plan import make_plan

    sweep = chosen_sweep(spec, **data)
    made = make_plan(sweep.spec, CPU_COUNT if workers is None else workers, tables=sweep.tables)
    click.echo(made.to_json() if as_json else made)


@main.command()
@click.argument("spec_and_cube", nargs=-1, required=True, metavar="[SPEC] CUBE")
@data_options
@run_options
def submit(
    spec_and_cube: tuple[str, ...],
    workers: int | None,
    scheduler: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Compute a sweep into a new cube, or what a cube lacks of it."""
    *spec, cube = spec_and_cube
    if len(spec) > 1:
        raise click.UsageError("Give SPEC and CUBE, or --data FILE and CUBE.")
    sweep = chosen_sweep(spec[0] if spec else None, **data)
    _submit(sweep, Path(cube), workers, scheduler, as_json)


@main.command()
@cube_argument
@spec_argument
@run_options
def extend(cube: Path, spec: str, **options: Any) -> None:
    """Make a cube larger, and compute what is new: all else stays as it is."""
    from storage import extend_cube
    from workflows.presets import load_sweep

    larger = load_sweep(spec)
    show_notices(larger)
    extend_cube(cube, larger.spec, larger.tables)
    _submit(larger, cube, **options)


@main.command()
@cube_argument
@run_options
def retry(cube: Path, **options: Any) -> None:
    """Try failed tiles again, and compute all else that the cube lacks."""
    from pipeline.draft import Sweep
    from storage import mark_missing, read_ledger, read_provenance

    spec = read_provenance(cube).spec
    mark_missing(cube, read_ledger(cube).failed)
    _submit(Sweep(spec, {}), cube, **options)


@main.command()
@cube_argument
@json_option
def status(cube: Path, as_json: bool) -> None:
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
def summary(cube: Path) -> None:
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
def verify(cube: Path, repair: bool, recompute: int, as_json: bool) -> None:
    """Read every result of a cube, and say which tiles are damaged."""
    from workflows.verify import check, check_facts, check_words

    found = check(cube, repair=repair, recompute_tiles=recompute)
    click.echo(json.dumps(check_facts(found), indent=2) if as_json else check_words(found))
    _exit(FAILED if found.is_bad else 0)


def _submit(
    sweep: "Sweep", cube: Path, workers: int | None, scheduler: str | None, as_json: bool
) -> None:
    from workflows.progress import shown_progress
    from workflows.sweep import submit as submit_sweep

    if workers is not None and scheduler is not None:
        raise click.UsageError("Give --workers or --scheduler, not both.")
    with shown_progress(as_json) as show:
        report = submit_sweep(sweep, cube, workers=workers, scheduler=scheduler, on_event=show)
    _print_report(report, cube, as_json)
    _exit(FAILED if report.failed else 0)


def _print_report(report: "SweepReport", cube: Path, as_json: bool) -> None:
    if as_json:
        from workflows.progress import print_json

        print_json("finished", **report.facts())
        return
    click.echo(report)
    if report.failed:
        click.echo(
            f"Why tiles failed: imwk status {cube}. To try them again: imwk retry {cube}.", err=True
        )


def _exit(code: int) -> None:
    click.get_current_context().exit(code)


for _command in (*commands_query.COMMANDS, *commands_cluster.COMMANDS, datasets):
    main.add_command(_command)
