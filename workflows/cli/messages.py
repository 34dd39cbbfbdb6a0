"""Turn errors of the library into messages of the command line."""

from collections.abc import Sequence

import click

from workflows.cli.exit_codes import code_of

#: Options of arguments whose name differs.
_OPTIONS = {"certificates": ("--tls-ca", "--tls-cert", "--tls-key")}


def as_click_error(error: Exception) -> click.ClickException | None:
    """Return a message with an exit code for an error of this project, and None for others."""
    from pipeline.core.errors import ImwkError

    if not isinstance(error, ImwkError):
        return None
    message = with_options(str(error), getattr(error, "arguments", ()))
    shown = click.ClickException(message)
    shown.exit_code = code_of(error)  # type: ignore[misc] # an attribute of this exception only
    return shown


def with_options(message: str, arguments: Sequence[str]) -> str:
    r"""Return a message about arguments with the names of their options.

    They are added to the first line, because longer messages continue with details.

    Examples
    --------
    >>> with_options("No worker started. Wait longer.\nThe job script is:", ["wait"])
    'No worker started. Wait longer. See --wait.\nThe job script is:'
    >>> with_options("The certificate is not accepted.", ["certificates"])
    'The certificate is not accepted. See --tls-ca, --tls-cert and --tls-key.'
    """
    if not arguments:
        return message
    *others, last = [option for name in arguments for option in _options_of(name)]
    listed = f"{', '.join(others)} and {last}" if others else last
    first, newline, details = message.partition("\n")
    return f"{first} See {listed}.{newline}{details}"


def _options_of(argument: str) -> Sequence[str]:
    return _OPTIONS.get(argument, (f"--{argument.replace('_', '-')}",))
