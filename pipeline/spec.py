"""The spec: what a sweep is, checked and frozen; and its tiles."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ModelWrapValidatorHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from pipeline.core.centres import CENTRES
from pipeline.core.imwk import DTYPES
from pipeline.core.normalise import NORMALISATIONS
from pipeline.core.validation import as_choice, as_whole_number
from pipeline.datasets import CONFIGURATIONS
from pipeline.errors import Location, SpecError, problems_in_words
from pipeline.exponents import ready_exponents

#: The four algorithms of the paper, of which a sweep computes some or all.
PARTS = ("kmeans", "imwk", "rescaled_kmeans", "rescaled_imwk")
#: Those that start at random, and so have restarts.
RESTARTED = ("kmeans", "rescaled_kmeans")
#: The paper's normalisations.
PAPER_NORMALISATIONS = ("z-score", "range", "min-max", "unit-length")

#: TOML's own limit; and limits far above any sweep that could end, to catch slips of a key.
LARGEST_SEED, MOST_RESTARTS, MOST_DATASETS = 2**63 - 1, 100_000, 10_000


def _whole_number(what: str, least: int, most: int) -> BeforeValidator:
    def check(value: Any) -> int:
        number = as_whole_number(value, what, least)
        if number > most:
            raise ValueError(f"{what} must be a whole number of at most {most}.")
        return number

    return BeforeValidator(check)


def _one_of(what: str, known: Iterable[str]) -> BeforeValidator:
    return BeforeValidator(lambda name: as_choice(name, what, known))


def _some_of(what: str, known: Iterable[str]) -> BeforeValidator:
    """Accept a list of known names, each once; put them in the order of `known`."""
    names = list(known)

    def check(given: Any) -> tuple[str, ...]:
        if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
            raise ValueError(f"give a list of {what}s. Known: {', '.join(names)}.")
        chosen = [as_choice(name, what, names) for name in given]
        if not chosen:
            raise ValueError(f"give at least one {what}. Known: {', '.join(names)}.")
        if len(set(chosen)) < len(chosen):
            raise ValueError(f"give every {what} once.")
        return tuple(sorted(chosen, key=names.index))

    return BeforeValidator(check)


def _all_in_full(given: Any) -> Any:
    return list(CONFIGURATIONS) if given == "all" else given


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True)


class Synthetic(_Frozen):
    """The paper's synthetic data: which configurations, and how many data sets of each."""

    configs: Annotated[
        tuple[str, ...], _some_of("configuration", CONFIGURATIONS), BeforeValidator(_all_in_full)
    ]
    count: Annotated[int, _whole_number("count", 1, MOST_DATASETS)]


class Datasets(_Frozen):
    """The data sets of a sweep, by source."""

    synthetic: Synthetic


@dataclass(frozen=True, order=True)
class Tile:
    """One data set under one normalisation: the unit of storage and completion.

    Examples
    --------
    >>> print(Tile("1000x6-3 +3NF", 7, "range"))
    1000x6-3 +3NF, data set 7, range
    """

    config: str
    dataset: int
    normalisation: str

    def __str__(self) -> str:
        return f"{self.config}, data set {self.dataset}, {self.normalisation}"


_Exponents = Annotated[tuple[float, ...], BeforeValidator(ready_exponents)]
_PAPER_GRID = ready_exponents({"start": 1.1, "stop": 5.0, "step": 0.1})


class SweepSpec(_Frozen):
    r"""What a sweep is: data sets, normalisations, exponents, restarts, and what to compute.

    Names are kept in the order of the paper and exponents sorted, whatever order they were given
    in: two specs of one fingerprint are equal.

    Parameters
    ----------
    datasets : mapping
        ``{"synthetic": {"configs": names or "all", "count": data sets of each}}``.
    seed : int
        Of all random streams.
    normalisations, parts : iterable of str
        Of `NORMALISATIONS` and of `PARTS`. Without restarts there is no k-means part.
    restarts : int
        Of k-means++ on every data set.
    centre, dtype : str
        As for `imwk`.
    p1, p2 : mapping or iterable of float
        Exponents that rescale, and those of imwk-means on rescaled data: ``start``, ``stop`` and
        ``step``, or ``values``.

    Raises
    ------
    SpecError
        If anything cannot be used; its message names every key, its value and what is allowed.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3", "1000x6-3 WCN"], "count": 2}}
    >>> spec = SweepSpec(datasets=data, normalisations=["range"], p2=[1.5, 2])
    >>> len(spec.p1), spec.p2
    (40, (1.5, 2.0))
    >>> print(*spec.tiles, sep="\n")
    1000x6-3, data set 0, range
    1000x6-3 WCN, data set 0, range
    1000x6-3, data set 1, range
    1000x6-3 WCN, data set 1, range
    """

    seed: Annotated[int, _whole_number("seed", 0, LARGEST_SEED)] = 2020
    normalisations: Annotated[tuple[str, ...], _some_of("normalisation", NORMALISATIONS)] = (
        PAPER_NORMALISATIONS
    )
    restarts: Annotated[int, _whole_number("restarts", 0, MOST_RESTARTS)] = 100
    centre: Annotated[str, _one_of("centre", CENTRES)] = "exact"
    dtype: Annotated[str, _one_of("dtype", DTYPES)] = "float64"
    parts: Annotated[tuple[str, ...], _some_of("part", PARTS)] = PARTS
    datasets: Datasets
    p1: _Exponents = Field(default=_PAPER_GRID)
    p2: _Exponents = Field(default=_PAPER_GRID)

    @field_validator("parts")
    @classmethod
    def _no_kmeans_without_restarts(
        cls, parts: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        if info.data.get("restarts") != 0:
            return parts
        left = tuple(part for part in parts if part not in RESTARTED)
        if not left:
            raise ValueError("nothing is left to compute with restarts = 0. Give restarts.")
        return left

    @model_validator(mode="wrap")
    @classmethod
    def _refuse_in_words(
        cls, given: Any, handler: ModelWrapValidatorHandler["SweepSpec"]
    ) -> "SweepSpec":
        try:
            return handler(given)
        except ValidationError as error:
            raise SpecError(problems_in_words(error, _KEYS)) from None

    @property
    def fingerprint(self) -> str:
        """What decides the results, and nothing else, as 64 hexadecimal digits."""
        decisive = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(decisive.encode()).hexdigest()

    @property
    def configs(self) -> tuple[str, ...]:
        """All configurations of all sources, in order."""
        return self.datasets.synthetic.configs

    def dataset_count(self, config: str) -> int:
        """Return how many data sets a configuration has."""
        as_choice(config, "configuration", self.configs)
        return self.datasets.synthetic.count

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All tiles, breadth-first: first the first data set of every configuration."""
        most = max(map(self.dataset_count, self.configs))
        return tuple(
            Tile(config, dataset, normalisation)
            for dataset, config, normalisation in product(
                range(most), self.configs, self.normalisations
            )
            if dataset < self.dataset_count(config)
        )

    def to_toml(self) -> str:
        """Write the spec as TOML that is read as an equal spec."""
        data = self.model_dump(mode="json")
        tables = {
            "datasets.synthetic": data.pop("datasets")["synthetic"],
            "p1": {"values": data.pop("p1")},
            "p2": {"values": data.pop("p2")},
        }
        sections = [_entries(data)]
        sections += [f"[{name}]\n{_entries(table)}" for name, table in tables.items()]
        return "\n".join(sections)


def _entries(table: Mapping[str, object]) -> str:
    """Write numbers, strings and lists of them: there JSON is TOML."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()
    )


_KEYS: Mapping[Location, Iterable[str]] = {
    (): SweepSpec.model_fields,
    ("datasets",): Datasets.model_fields,
    ("datasets", "synthetic"): Synthetic.model_fields,
}
