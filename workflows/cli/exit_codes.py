"""How the command `imwk` ends: what each exit code means."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pipeline.core.errors import ImwkError

FAILED, REFUSED, LOST, NO_CLUSTER, INTERRUPTED = 1, 2, 3, 4, 130

MEANINGS = {
    0: "all is well",
    FAILED: "some tiles failed, are damaged or differ; the rest is in the cube",
    REFUSED: "refused: a wrong option, spec or cube, or a cube that cannot be written",
    LOST: "the scheduler was lost; submit again to go on",
    NO_CLUSTER: "the cluster cannot be used: no scheduler, no worker, or workers that have\n"
    "       another version or cannot write the cube",
    INTERRUPTED: "interrupted or cancelled; submit again to go on",
}

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items()
)


def code_of(error: "ImwkError") -> int:
    """Return the exit code of an error that is ours."""
    from pipeline.errors import SchedulerLostError
    from workflows.errors import CancelledSweepError, WorkersError

    codes = {SchedulerLostError: LOST, WorkersError: NO_CLUSTER, CancelledSweepError: INTERRUPTED}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), REFUSED)


def end(code: int) -> None:
    """End the command that is running."""
    click.get_current_context().exit(code)
