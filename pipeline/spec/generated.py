"""Generated data in a spec: lists of numbers, and a configuration for each combination of them."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import product
from math import isfinite, prod
from numbers import Real
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator

from pipeline.core.validation import as_choice, as_whole_number
from pipeline.datasets.generator import (
    NOISES,
    PAPER_LEAST,
    PAPER_SHARE,
    PAPER_SPREAD,
    Configuration,
    problem_of,
)
from pipeline.datasets.tables.columns import MOST_COLUMNS, MOST_ROWS
from pipeline.spec.fields import FrozenModel, is_list, whole_number

#: Far above any feasible sweep, to catch typing errors.
MOST_DATASETS = 10_000
MOST_CONFIGURATIONS = 1_000
#: Below this, variances differ by less than what rounding changes; above it, numbers overflow.
LARGEST_SPREAD = 1e12
#: The keys that may be lists, in the order of the names of configurations.
LISTS = ("n", "m", "k", "noise", "noise_share")

Number = int | float | str


def _one_or_several(check: Callable[[Any], Any], order: Callable[[Any], Any]) -> BeforeValidator:
    """Accept a value, or a list of different ones, which is sorted."""

    def check_all(given: Any) -> Any:
        if not is_list(given):
            return check(given)
        values = list(given)
        if not 0 < len(values) <= MOST_CONFIGURATIONS:
            raise ValueError(f"give 1 to {MOST_CONFIGURATIONS} values.")
        checked = list(map(check, values))
        if len(set(checked)) < len(checked):
            raise ValueError("give each value once.")
        return tuple(sorted(checked, key=order))

    return BeforeValidator(check_all)


def _whole_numbers(what: str, most: int) -> BeforeValidator:
    def check(value: Any) -> int:
        number = as_whole_number(value, what, 1)
        if number > most:
            raise ValueError(f"{what} must be a whole number of at most {most}.")
        return number

    return _one_or_several(check, int)


def _noise(value: Any) -> str:
    return as_choice(value, "kind of noise", NOISES)


def _share(value: Any) -> float:
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) <= MOST_COLUMNS:
        raise ValueError("a share must be a number of at least 0, such as 0.5.")
    return float(value) + 0.0  # -0.0 would have a name of its own


def _default_share(keys: Mapping[str, Any]) -> float:
    return 0.0 if keys.get("noise") == "none" else PAPER_SHARE


def _spread(given: Any) -> tuple[float, float]:
    values = list(given) if is_list(given) else []
    are_numbers = all(isinstance(each, Real) and not isinstance(each, bool) for each in values)
    if len(values) == 2 and are_numbers:
        low, high = map(float, values)
        if isfinite(high) and 0 < low <= high <= LARGEST_SPREAD:
            return low, high
    raise ValueError(
        "give the least and the largest variance of a cluster, two numbers above 0 such as "
        f"[{PAPER_SPREAD[0]}, {PAPER_SPREAD[1]}]."
    )


class Generated(FrozenModel):
    """Generated data: each combination of the values of lists is a configuration.

    Attributes
    ----------
    n, m, k : int or tuple of int
        Numbers of entities, of features before noise is added, and of clusters.
    count : int
        Number of data sets of each configuration.
    noise : str or tuple of str
        Kinds of noise, keys of `NOISES`.
    noise_share : float or tuple of float
        As in `Configuration`.
    spread : tuple of float
        The least and the largest variance of a cluster.
    least : int
        The least number of entities of a cluster.
    """

    n: Annotated[int | tuple[int, ...], _whole_numbers("n", MOST_ROWS)]
    m: Annotated[int | tuple[int, ...], _whole_numbers("m", MOST_COLUMNS)]
    k: Annotated[int | tuple[int, ...], _whole_numbers("k", MOST_ROWS)]
    count: Annotated[int, whole_number("count", 1, MOST_DATASETS)]
    noise: Annotated[str | tuple[str, ...], _one_or_several(_noise, list(NOISES).index)] = "none"
    noise_share: Annotated[float | tuple[float, ...], _one_or_several(_share, float)] = Field(
        default_factory=_default_share
    )
    spread: Annotated[tuple[float, float], BeforeValidator(_spread)] = PAPER_SPREAD
    least: Annotated[int, whole_number("least", 1, MOST_ROWS)] = PAPER_LEAST

    @field_validator("noise_share")
    @classmethod
    def _require_noise(cls, share: Any, info: ValidationInfo) -> Any:
        if info.data.get("noise") in ("none", ("none",)) and share not in (0, (0,)):
            kinds = ", ".join(kind for kind in NOISES if kind != "none")
            raise ValueError(f"there is no noise. Choose a kind of it with noise: {kinds}.")
        return share

    @model_validator(mode="after")
    def _refuse_impossible_data(self) -> "Generated":
        several = prod(len(_values(self, key)) for key in LISTS)
        if several > MOST_CONFIGURATIONS:
            raise ValueError(
                f"{several:,} combinations are too many. Give lists with at most "
                f"{MOST_CONFIGURATIONS:,} combinations."
            )
        for each in self.configurations("").values():
            problem = problem_of(each)
            if problem:
                raise ValueError(problem)
        return self

    def configurations(self, name: str) -> dict[str, Configuration]:
        """Return all configurations, by name: `name`, and the values of the keys that are lists.

        Examples
        --------
        >>> data = Generated(n=100, m=4, k=[2, 3], noise="uniform", noise_share=[0, 0.5], count=5)
        >>> list(data.configurations("mine"))[1:3]
        ['mine k=2 noise_share=0.5', 'mine k=3 noise_share=0']
        """
        return dict(_configurations(name, self))


@lru_cache(maxsize=64)
def _configurations(name: str, data: Generated) -> dict[str, Configuration]:
    listed = [key for key in LISTS if isinstance(getattr(data, key), tuple)]
    found = {}
    for values in product(*(_values(data, key) for key in LISTS)):
        here: dict[str, Any] = dict(zip(LISTS, values, strict=True))
        if here["noise"] == "none":  # whatever the share, these are the same data
            here["noise_share"] = 0.0
        parts = (f"{key}={_text(here[key])}" for key in listed)
        size = here["n"], here["m"], here["k"]
        found[" ".join([name, *parts])] = Configuration(
            *size, here["noise"], here["noise_share"], data.spread, data.least
        )
    return found


def _values(data: Generated, key: str) -> tuple[Any, ...]:
    given = getattr(data, key)
    return given if isinstance(given, tuple) else (given,)


def _text(value: Number) -> str:
    """Write a value as it is in names: without the ``.0`` of a whole number.

    Examples
    --------
    >>> [_text(value) for value in (3, 1.0, 0.25, "uniform")]
    ['3', '1', '0.25', 'uniform']
    """
    return str(value).removesuffix(".0")
