"""Arguments and options that several commands share."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

cube_argument = click.argument("cube")
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print JSON instead of text, for programs."
)
workers_option = click.option(
    "--workers",
    metavar="N",
    type=click.IntRange(min=1),
    help="Start N worker processes with one thread each on this machine. By default one per core.",
)
variable_option = click.option(
    "--variable",
    help="The variable of the cube to show. By default rescaled_imwk_ari or, without labels, "
    "rescaled_imwk_silhouette.",
)
config_option = click.option(
    "--config", multiple=True, help="Select a configuration; repeatable. By default all."
)
normalisation_option = click.option(
    "--normalisation", multiple=True, help="Select a normalisation; repeatable. By default all."
)

_OF_TABLES = (
    click.option("--label", metavar="COLUMN", help="The column with the classes. By default none."),
    click.option(
        "--k",
        type=click.IntRange(1),
        help="The number of clusters. By default the number of classes.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["refuse", "impute"]),
        default="refuse",
        show_default=True,
        help="Refuse a file with missing values, or impute means and modes.",
    ),
    click.option(
        "--ignore",
        multiple=True,
        metavar="COLUMN",
        help="Leave out a column; repeatable. By default all columns are used.",
    ),
)


def with_all(options: tuple[Callable[[Any], Any], ...]) -> Callable[[AnyFunction], AnyFunction]:
    """Return a decorator that adds options in their order."""

    def decorate(command: AnyFunction) -> AnyFunction:
        return reduce(lambda decorated, option: option(decorated), reversed(options), command)

    return decorate


def table_options(command: AnyFunction) -> AnyFunction:
    """Add the options for reading a table from a file."""
    return with_all(_OF_TABLES)(command)
