"""Arguments and options that several commands share."""

from collections.abc import Callable
from functools import reduce
from typing import Any, TypeVar

import click

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])


def _numbers_of_clusters(
    _: click.Context, __: click.Parameter, value: str | None
) -> int | tuple[int, ...] | None:
    """Return a number of clusters, or several: ``3``, ``2:8``, which includes 8, or ``2,4,6``."""
    if value is None:
        return None
    try:
        numbers = _numbers(value)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a number such as 3, 2:8 or 2,4,6.") from None
    if not numbers or min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise click.BadParameter(f"{value!r} must be different numbers of at least 1.")
    return numbers if ":" in value or "," in value else numbers[0]


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers of a range or of a list."""
    if ":" in text:
        first, last = map(int, text.split(":"))
        return tuple(range(first, last + 1))
    return tuple(map(int, text.split(",")))


def _conditions(given: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the values of each coordinate; ``k=3,6`` is the same as ``k=3`` and ``k=6``."""
    found: dict[str, list[str]] = {}
    for text in given:
        name, equals, values = text.partition("=")
        if not (name.strip() and equals and values.strip()):
            raise click.BadParameter(f"{text!r} is not NAME=VALUE, such as k=3.")
        found.setdefault(name.strip(), []).extend(value.strip() for value in values.split(","))
    return found


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
where_option = click.option(
    "--where",
    multiple=True,
    metavar="NAME=VALUE",
    callback=lambda _, __, given: _conditions(given),
    help="Select configurations by n, m, k, noise or noise_share, such as k=3 or "
    "noise_share=0.25,0.5; repeatable. By default all.",
)
normalisation_option = click.option(
    "--normalisation", multiple=True, help="Select a normalisation; repeatable. By default all."
)

_LABEL = click.option(
    "--label", metavar="COLUMN", help="The column with the classes. By default none."
)
_ONE_K = click.option(
    "--k", type=click.IntRange(1), help="The number of clusters. By default the number of classes."
)
_SEVERAL_K = click.option(
    "--k",
    metavar="NUMBERS",
    callback=_numbers_of_clusters,
    help="The number of clusters, or several: 2:8 or 2,4,6, one configuration each. By default "
    "the number of classes.",
)
_READING = (
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
    click.option(
        "--no-header",
        is_flag=True,
        help="The first line of a .csv or .tsv file is data. Columns are named x1, x2 and so on.",
    ),
)


def with_all(options: tuple[Callable[[Any], Any], ...]) -> Callable[[AnyFunction], AnyFunction]:
    """Return a decorator that adds options in their order."""

    def decorate(command: AnyFunction) -> AnyFunction:
        return reduce(lambda decorated, option: option(decorated), reversed(options), command)

    return decorate


def table_options(command: AnyFunction) -> AnyFunction:
    """Add the options for reading a table from a file, and clustering it once."""
    return with_all((_LABEL, _ONE_K, *_READING))(command)


def swept_table_options(command: AnyFunction) -> AnyFunction:
    """Add the options for reading a table from a file, and sweeping over it."""
    return with_all((_LABEL, _SEVERAL_K, *_READING))(command)
