"""The spec: what a sweep is, checked and frozen; and its tiles."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
)

from pipeline.core.centres.methods import CENTRES
from pipeline.core.imwk import DTYPES
from pipeline.core.normalise import NORMALISATIONS
from pipeline.core.validation import as_choice
from pipeline.datasets import CONFIGURATIONS
from pipeline.datasets.synthetic import ENTITIES
from pipeline.errors import Location
from pipeline.scoring import SCORES
from pipeline.spec.exponents import ready_exponents
from pipeline.spec.fields import Frozen, one_of, some_of, whole_number
from pipeline.spec.problems import dotted, spec_error
from pipeline.spec.sources import Datasets, MatrixFacts, Synthetic

#: The four algorithms of the paper, of which a sweep computes some or all.
PARTS = ("kmeans", "imwk", "rescaled_kmeans", "rescaled_imwk")
#: Those that start at random, and so have restarts.
RESTARTED = ("kmeans", "rescaled_kmeans")
#: The paper's normalisations.
PAPER_NORMALISATIONS = ("z-score", "range", "min-max", "unit-length")

#: TOML's own limit; and limits far above any sweep that could end, to catch slips of a key.
LARGEST_SEED, MOST_RESTARTS = 2**63 - 1, 100_000


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


def _scores_of(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the default: what people bring may have no classes, what the paper made up has."""
    datasets = keys.get("datasets")
    return SCORES if datasets is not None and datasets.are_real else ()


class SpecKeys(Frozen):
    """All keys of a spec but the data, which a file describes in another way."""

    #: Of the tables below, by their place; ``*`` stands for any name.
    keys_of_data: ClassVar[Mapping[Location, Iterable[str]]] = {}

    seed: Annotated[int, whole_number("seed", 0, LARGEST_SEED)] = 2020
    normalisations: Annotated[tuple[str, ...], some_of("normalisation", NORMALISATIONS)] = (
        PAPER_NORMALISATIONS
    )
    restarts: Annotated[int, whole_number("restarts", 0, MOST_RESTARTS)] = 100
    centre: Annotated[str, one_of("centre", CENTRES)] = "exact"
    dtype: Annotated[str, one_of("dtype", DTYPES)] = "float64"
    parts: Annotated[tuple[str, ...], some_of("part", PARTS)] = PARTS
    datasets: Any
    scores: Annotated[tuple[str, ...], some_of("score", SCORES, least=0)] = Field(
        default_factory=_scores_of
    )
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

    if not TYPE_CHECKING:  # a type checker knows the keys from pydantic

        def __init__(self, **given: Any) -> None:
            with self._errors_in_words():
                super().__init__(**given)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Return the spec of a mapping, or raise `SpecError`."""
        with cls._errors_in_words():
            return super().model_validate(obj, **options)

    @classmethod
    @contextmanager
    def _errors_in_words(cls) -> Iterator[None]:
        try:
            yield
        except ValidationError as error:
            keys = {(): cls.model_fields, **cls.keys_of_data}
            raise spec_error(error, keys) from None


class SweepSpec(SpecKeys):
    r"""What a sweep is: data sets, normalisations, exponents, restarts, and what to compute.

    Names are kept in the order of the paper and exponents sorted, whatever order they were given
    in: two specs of one fingerprint are equal.

    Parameters
    ----------
    datasets : mapping
        ``{"synthetic": {"configs": names or "all", "count": data sets of each}}``, or
        ``{"matrices": {name: MatrixFacts}}``, or both.
    seed : int
        Of all random streams.
    normalisations, parts : iterable of str
        Of `NORMALISATIONS` and of `PARTS`. Without restarts there is no k-means part.
    restarts : int
        Of k-means++ on every data set.
    centre, dtype : str
        As for `imwk`.
    scores : iterable of str
        Of `SCORES`, by which labellings are judged without classes. All of them for data that are
        not synthetic, else none, unless given.
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

    keys_of_data: ClassVar[Mapping[Location, Iterable[str]]] = {
        ("datasets",): Datasets.model_fields,
        ("datasets", "synthetic"): Synthetic.model_fields,
        ("datasets", "matrices", "*"): MatrixFacts.model_fields,
    }

    datasets: Datasets

    @field_validator("scores")
    @classmethod
    def _some_without_classes(
        cls, scores: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        datasets: Datasets | None = info.data.get("datasets")
        if datasets is not None and datasets.unlabelled and not scores:
            raise ValueError(
                f"nothing would say how good the clusters of {datasets.unlabelled[0]} are, which "
                f"has no labels. Give some. Known: {', '.join(SCORES)}."
            )
        return scores

    @model_serializer(mode="wrap")
    def _without_default_of_before(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Leave out that made-up data have no scores: a spec of before has its fingerprint."""
        data: dict[str, Any] = handler(self)
        if not self.scores and not self.datasets.are_real:
            del data["scores"]
        return data

    @property
    def fingerprint(self) -> str:
        """What decides the results, and nothing else, as 64 hexadecimal digits."""
        decisive = json.dumps(self.model_dump(mode="json"), sort_keys=True)
        return hashlib.sha256(decisive.encode()).hexdigest()

    @property
    def configs(self) -> tuple[str, ...]:
        """All configurations of all sources, in order."""
        return self.datasets.configs

    def dataset_count(self, config: str) -> int:
        """Return how many data sets a configuration has."""
        as_choice(config, "configuration", self.configs)
        synthetic = self.datasets.synthetic
        return 1 if synthetic is None or config in self.datasets.matrices else synthetic.count

    def shape(self, config: str) -> tuple[int, int, int]:
        """Return how many entities, features and clusters the data sets of a configuration have."""
        matrix = self.datasets.matrices.get(as_choice(config, "configuration", self.configs))
        if matrix is not None:
            return matrix.rows, matrix.features, matrix.k
        synthetic = CONFIGURATIONS[config]
        return ENTITIES, synthetic.total_features, synthetic.clusters

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """Configurations whose classes nobody knows: there is no ARI of them."""
        return self.datasets.unlabelled

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
        datasets = data.pop("datasets")
        matrices = datasets.pop("matrices", {})
        tables: dict[Location, Any] = {
            ("datasets", source): table for source, table in datasets.items()
        }
        tables |= {("datasets", "matrices", name): facts for name, facts in matrices.items()}
        tables |= {(axis,): {"values": data.pop(axis)} for axis in ("p1", "p2")}
        sections = [_entries(data)]
        sections += [f"[{dotted(place)}]\n{_entries(table)}" for place, table in tables.items()]
        return "\n".join(sections)


def _entries(table: Mapping[str, object]) -> str:
    """Write numbers, strings and lists of them: there JSON is TOML."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n" for key, value in table.items()
    )
