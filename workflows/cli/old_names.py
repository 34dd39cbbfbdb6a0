"""Names of version 0.1 that are accepted for one more release, hidden from the help texts."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def notice(old: str, new: str) -> None:
    """Print on stderr that an old name was used."""
    click.echo(f"Warning: {old} is now {new}. The next release drops the old name.", err=True)


def old_option(old: str, new: str, **attributes: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Accept the hidden option `old` in place of the option `new`.

    Apply it above the option `new`, with the same attributes. The options have names such as
    ``--batch``.
    """
    return _replaced(
        click.option(old, hidden=True, **attributes), _parameter(old), _parameter(new), old, new
    )


def old_argument(name: str, new: str, **attributes: Any) -> Callable[[AnyFunction], AnyFunction]:
    """Accept the hidden optional argument `name` in place of the option `new`."""
    hidden = click.argument(name, cls=_HiddenArgument, required=False, **attributes)
    return _replaced(hidden, name, _parameter(new), f"the argument {name.upper()}", new)


def _replaced(
    decorator: Callable[[Any], Any], parameter: str, new_parameter: str, old: str, new: str
) -> Callable[[AnyFunction], AnyFunction]:
    def decorate(command: AnyFunction) -> AnyFunction:
        @wraps(command)
        def called(*args: Any, **given: Any) -> Any:
            value = given.pop(parameter)
            if value is not None:
                if given[new_parameter] is not None:
                    raise click.UsageError(f"{old} is the old name of {new}. Give {new} only.")
                notice(old, new)
                given[new_parameter] = value
            return command(*args, **given)

        decorated: AnyFunction = decorator(called)
        return decorated

    return decorate


def _parameter(option: str) -> str:
    return option.removeprefix("--").replace("-", "_")


class _HiddenArgument(click.Argument):
    """An argument that the usage line does not show."""

    def get_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's interface
        return []
