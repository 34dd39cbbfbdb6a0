"""The group of all commands. Each command imports what it needs when it is called."""

import traceback
from typing import Any

import click

from workflows.cli import choices, cluster, data, features, maintain, pictures, results, run
from workflows.cli.exit_codes import BUG, EPILOG, INTERRUPTED
from workflows.cli.messages import as_click_error

#: Below the traceback of an unexpected error.
REPORT = (
    "This is an error in imwk itself. Please report it with the traceback above, the command and "
    "the output of imwk --version. Tiles that are done are in the cube."
)


class _Group(click.Group):
    """A group that ends errors of this project with a message and an exit code."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(
                "Interrupted. The tiles that are done are in the cube. Submit again to continue.",
                err=True,
            )
            ctx.exit(INTERRUPTED)
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise  # not converted, because that imports NumPy, which --help must not wait for
        except BrokenPipeError:
            raise  # the reader of a pipe has ended, which click handles
        except Exception as error:
            shown = as_click_error(error)
            if shown is None:
                click.echo(f"{traceback.format_exc()}\n{REPORT}", err=True)
                ctx.exit(BUG)
            raise shown from error


@click.group(cls=_Group, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="imwk-sweep", prog_name="imwk")
def main() -> None:
    """Sweeps of intelligent Minkowski weighted k-means and feature rescaling.

    SPEC is a TOML file or the name of a preset. CUBE is the folder that contains the
    results, or a URL such as s3://bucket/cube.zarr.
    """


for _theme in (run, results, choices, features, pictures, data, cluster, maintain):
    for _command in _theme.COMMANDS:
        main.add_command(_command)
