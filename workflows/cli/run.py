"""Commands that compute: submit, extend and retry; and cancel. They import what they need."""

from typing import TYPE_CHECKING, Any

import click

from workflows.cli.data import DATA_OPTIONS, chosen_sweep, data_options, show_notices
from workflows.cli.exit_codes import FAILED, end
from workflows.cli.options import RunOptions, options_of, run_options

if TYPE_CHECKING:
    from pipeline.spec.draft import Sweep
    from workflows.sweep import SweepReport


@click.command()
@click.argument("spec_and_cube", nargs=-1, required=True, metavar="[SPEC] CUBE")
@data_options
@run_options
def submit(spec_and_cube: tuple[str, ...], **given: Any) -> None:
    """Compute a sweep into a new cube, or what a cube lacks of it."""
    *specs, cube = spec_and_cube
    if len(specs) > 1:
        raise click.UsageError("Give SPEC and CUBE, or --data FILE and CUBE.")
    spec = specs[0] if specs else None
    sweep = chosen_sweep(spec, **{name: given.pop(name) for name in DATA_OPTIONS})
    _submit(sweep, cube, options_of(given, spec))


@click.command()
@click.argument("cube")
@click.argument("spec")
@run_options
def extend(cube: str, spec: str, **given: Any) -> None:
    """Make a cube larger, and compute what is new: all else stays as it is."""
    from storage import extend_cube
    from workflows.presets import load_sweep

    larger = load_sweep(spec)
    show_notices(larger)
    options = options_of(given, spec)
    if not options.dry_run:
        extend_cube(cube, larger.spec, larger.tables)
    _submit(larger, cube, options)


@click.command()
@click.argument("cube")
@run_options
def retry(cube: str, **given: Any) -> None:
    """Try failed tiles again, and compute all else that the cube lacks."""
    from pipeline.spec.draft import Sweep
    from storage import forgive, read_ledger, read_spec

    options = options_of(given)
    spec = read_spec(cube)
    if not options.dry_run:
        forgive(cube, read_ledger(cube).failed)
    _submit(Sweep(spec, {}), cube, options)


@click.command()
@click.argument("cube")
def cancel(cube: str) -> None:
    """Stop all sweeps that write to a cube, wherever they run; what is done is kept."""
    from storage import cancel_sweeps

    cancel_sweeps(cube)
    click.echo("Sweeps of this cube stop when the blocks that run now have ended.")


def _submit(sweep: "Sweep", cube: str, options: RunOptions) -> None:
    if options.dry_run:
        from workflows.compute.batch import job_script

        click.echo(job_script(options.job_settings(), insecure=options.insecure))
        return
    warning = options.warning()
    if warning:
        click.echo(f"Warning: {warning}", err=True)
    if options.detach:
        _detach(sweep, cube, options)
    else:
        _compute(sweep, cube, options)


def _compute(sweep: "Sweep", cube: str, options: RunOptions) -> None:
    from workflows.cli.progress import shown_progress
    from workflows.sweep import submit as submit_sweep

    with shown_progress(options.as_json) as show:
        report = submit_sweep(sweep, cube, workplace=options.workplace(), on_event=show)
    _print_report(report, cube, options.as_json)
    end(FAILED if report.done < report.tiles else 0)


def _detach(sweep: "Sweep", cube: str, options: RunOptions) -> None:
    from workflows.cli.progress import print_json
    from workflows.detached import submit_detached

    missing = submit_detached(sweep, cube, options.workplace())
    if options.as_json:
        print_json("detached", missing=missing)
    else:
        click.echo(
            f"{missing} tiles to do, left to the scheduler. How far it is: imwk status {cube}. "
            f"To stop it: imwk cancel {cube}."
        )


def _print_report(report: "SweepReport", cube: str, as_json: bool) -> None:
    if as_json:
        from workflows.cli.progress import print_json

        print_json("finished", **report.facts())
        return
    click.echo(report)
    if report.failed:
        click.echo(
            f"Why tiles failed: imwk status {cube}. To try them again: imwk retry {cube}.", err=True
        )


#: Of the group `imwk`.
COMMANDS = (submit, extend, retry, cancel)
