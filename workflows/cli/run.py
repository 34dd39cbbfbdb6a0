"""Commands that plan, start and stop sweeps."""

from typing import TYPE_CHECKING, Any

import click

from workflows.cli.compute_options import ComputeOptions, compute_options, options_of
from workflows.cli.exit_codes import FAILED, end
from workflows.cli.options import cube_argument, json_option
from workflows.cli.spec_options import DATA_OPTIONS, chosen_spec, data_options, read_spec_argument

if TYPE_CHECKING:
    from pipeline.spec.sweep import Sweep
    from workflows.sweep import SweepReport


@click.command()
@click.argument("name", required=False)
def presets(name: str | None) -> None:
    """List the presets, or print one as TOML.

    Without NAME, list the names of all presets. With NAME, print that preset, for
    example to change it and use it as SPEC.
    """
    from workflows.presets import PRESETS, preset_text

    click.echo("\n".join(PRESETS) if name is None else preset_text(name), nl=name is None)


@click.command()
@click.argument("spec", required=False)
@data_options
@click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(min=1),
    help="Estimate the duration with N workers. By default one per core. No workers are started.",
)
@json_option
def plan(spec: str | None, workers: int | None, as_json: bool, **data: Any) -> None:
    """Estimate the size and duration of a sweep.

    The duration is estimated from a few timed runs on this machine.
    """
    from dask.system import CPU_COUNT

    from pipeline.execution.plan import make_plan

    sweep = chosen_spec(spec, **data).sweep
    made = make_plan(sweep.spec, CPU_COUNT if workers is None else workers, tables=sweep.tables)
    click.echo(made.to_json() if as_json else made)


@click.command()
@click.argument("spec_and_cube", nargs=-1, required=True, metavar="[SPEC] CUBE")
@data_options
@compute_options
def submit(spec_and_cube: tuple[str, ...], **given: Any) -> None:
    """Compute a sweep into a new or partial cube.

    Tiles that are done already are not computed again. Workers run on this machine
    unless --scheduler or --batch is given. Job options replace the settings in the
    table [batch] of SPEC.
    """
    *specs, cube = spec_and_cube
    if len(specs) > 1:
        raise click.UsageError("Give SPEC and CUBE, or --data FILE and CUBE.")
    if not specs and given["data"] is None:
        raise click.UsageError(f"CUBE is missing. Give it after SPEC: imwk submit {cube} CUBE.")
    spec = specs[0] if specs else None
    file = chosen_spec(spec, **{name: given.pop(name) for name in DATA_OPTIONS})
    _submit(file.sweep, cube, options_of(given, file, spec))


@click.command()
@cube_argument
@click.argument("spec")
@compute_options
def extend(cube: str, spec: str, **given: Any) -> None:
    """Extend CUBE to a larger SPEC, and compute what is new.

    Results that are in the cube already do not change.
    """
    from storage import extend_cube

    file = read_spec_argument(spec)
    options = options_of(given, file, spec)
    if not options.dry_run:
        extend_cube(cube, file.sweep.spec, file.sweep.tables)
    _submit(file.sweep, cube, options)


@click.command()
@cube_argument
@compute_options
def retry(cube: str, **given: Any) -> None:
    """Compute the failed and missing tiles of CUBE."""
    from pipeline.spec.sweep import Sweep
    from storage import read_ledger, read_spec, reset_failed

    options = options_of(given)
    spec = read_spec(cube)
    if not options.dry_run:
        reset_failed(cube, read_ledger(cube).failed)
    _submit(Sweep(spec, {}), cube, options)


@click.command()
@cube_argument
def cancel(cube: str) -> None:
    """Stop all sweeps that write to CUBE.

    It does not matter where they run. Tiles that are done stay in the cube.
    """
    from storage import cancel_sweeps

    cancel_sweeps(cube)
    click.echo("Sweeps of this cube stop as soon as the blocks that are running have ended.")


def _submit(sweep: "Sweep", cube: str, options: ComputeOptions) -> None:
    if options.dry_run:
        from workflows.compute.jobqueue import job_script

        click.echo(job_script(options.job_settings(), insecure=options.insecure))
        return
    warning = options.warning()
    if warning:
        click.echo(f"Warning: {warning}", err=True)
    if options.detach:
        _detach(sweep, cube, options)
    else:
        _compute(sweep, cube, options)


def _compute(sweep: "Sweep", cube: str, options: ComputeOptions) -> None:
    from workflows.cli.progress import shown_progress
    from workflows.sweep import submit as submit_sweep

    with shown_progress(options.as_json) as show:
        report = submit_sweep(sweep, cube, workplace=options.workplace(), on_event=show)
    _print_report(report, cube, options.as_json)
    end(FAILED if report.done < report.tiles else 0)


def _detach(sweep: "Sweep", cube: str, options: ComputeOptions) -> None:
    from workflows.cli.progress import print_json
    from workflows.detached import submit_detached
    from workflows.terminal import counted

    missing = submit_detached(sweep, cube, options.workplace())
    if options.as_json:
        print_json("detached", missing=missing)
    else:
        click.echo(
            f"The scheduler computes {counted(missing, 'tile')}. Follow the sweep with imwk status "
            f"{cube}. Stop it with imwk cancel {cube}."
        )


def _print_report(report: "SweepReport", cube: str, as_json: bool) -> None:
    if as_json:
        from workflows.cli.progress import print_json

        print_json("finished", **report.facts())
        return
    click.echo(report)
    if report.failed:
        click.echo(
            f"See imwk status {cube} for the errors of failed tiles. Compute them again with imwk "
            f"retry {cube}.",
            err=True,
        )


#: The commands of this module, for the group `imwk`.
COMMANDS = (presets, plan, submit, extend, retry, cancel)
