"""The exit codes of the command `imwk`, and what each means."""

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from pipeline.core.errors import ImwkError

FAILED, REFUSED, LOST, NO_WORKERS, INTERRUPTED = 1, 2, 3, 4, 130
#: EX_SOFTWARE of BSD's sysexits. Python would end with 1, which means something else here.
BUG = 70

MEANINGS = {
    0: "The command succeeded.",
    FAILED: "Some tiles failed, are damaged or differ, or some files of data sets were\n"
    "       refused. All others are stored.",
    REFUSED: "The command was refused: an option, a spec, a table or the cube is wrong,\n"
    "       or a file cannot be written.",
    LOST: "The scheduler was lost. Submit again to continue.",
    NO_WORKERS: "The workers cannot be used: there is no scheduler or no worker, or a\n"
    "       worker has another version or cannot write the cube.",
    BUG: "An error in imwk itself. Report it with the traceback that is printed.",
    INTERRUPTED: "The sweep was interrupted or cancelled. Submit again to continue.",
}

EPILOG = "\b\nExit codes:\n" + "\n".join(
    f"  {code:<4} {meaning}" for code, meaning in MEANINGS.items()
)


def code_of(error: "ImwkError") -> int:
    """Return the exit code for an error of this project."""
    from pipeline.errors import SchedulerLostError
    from workflows.errors import CancelledSweepError, WorkersError

    codes = {SchedulerLostError: LOST, WorkersError: NO_WORKERS, CancelledSweepError: INTERRUPTED}
    return next((code for kind, code in codes.items() if isinstance(error, kind)), REFUSED)


def end(code: int) -> None:
    """End the running command with an exit code."""
    click.get_current_context().exit(code)
