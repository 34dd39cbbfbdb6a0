"""The spec: everything that defines a sweep, validated and immutable; and its tiles."""

import hashlib
import json
from collections.abc import Iterator, Mapping
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
from pipeline.plugins.kinds import CLUSTERERS
from pipeline.rules import FIRST_RULES, RULES
from pipeline.score_facts import DEFAULT_SCORES, SCORE_FACTS, SCORES, TILE_SCORES
from pipeline.spec.exponents import parse_exponents
from pipeline.spec.fields import is_list, one_of, some_of, whole_number
from pipeline.spec.generated import Generated
from pipeline.spec.generators import DEFAULT_SEED, GeneratorData
from pipeline.spec.pluggable import PARTS, PluggableKeys
from pipeline.spec.plugins import PluginFacts, plugin_scores, some_names
from pipeline.spec.problems import AllowedKeys, spec_error
from pipeline.spec.sources import Datasets, Synthetic, TableFacts
from pipeline.spec.writing import as_toml

#: The parts that start at random and therefore have restarts.
RESTARTED = ("kmeans", "rescaled_kmeans")
#: What a cube can keep of every run, beside its scores.
KEEP = ("labels", "weights")
#: The paper's normalisations.
PAPER_NORMALISATIONS = ("z-score", "range", "min-max", "unit-length")

#: TOML's limit, and limits far above any feasible sweep, to catch typing errors.
LARGEST_SEED, MOST_RESTARTS, MOST_RULES = 2**63 - 1, 100_000, 100_000


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


_Exponents = Annotated[tuple[float, ...], BeforeValidator(parse_exponents)]
_PAPER_GRID = parse_exponents({"start": 1.1, "stop": 5.0, "step": 0.1})


def _default_scores(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """Return some scores if there are tables, which may have no classes; synthetic data have."""
    datasets = keys.get("datasets")
    return DEFAULT_SCORES if datasets is not None and datasets.has_tables else ()


def _scores_of_blocks(given: Any) -> Any:
    """Leave out the ARI, which is always computed, and refuse scores that need a whole tile."""
    if not is_list(given):
        return given
    names = list(given)
    for name in TILE_SCORES:
        if name in names:
            raise ValueError(
                f"{name} compares all labellings of a tile with each other, so a sweep, which "
                "computes block by block, cannot compute it. Leave it out here, and compute it "
                "from the labels that the cube keeps."
            )
    return [name for name in names if name != "ari"]


def _default_keep(keys: Mapping[str, Any]) -> tuple[str, ...]:
    """Return everything if there are tables: runs on synthetic data are many, and of less use."""
    datasets = keys.get("datasets")
    return KEEP if datasets is not None and datasets.has_tables else ()


class SpecKeys(PluggableKeys):
    """All keys of a spec except the data, which files and computed specs describe differently."""

    #: The keys of the tables inside `datasets`.
    data_keys: ClassVar[AllowedKeys] = {}

    seed: Annotated[int, whole_number("seed", 0, LARGEST_SEED)] = DEFAULT_SEED
    plugins: tuple[PluginFacts, ...] = ()
    normalisations: Annotated[tuple[str, ...], some_names("normalisation", NORMALISATIONS)] = (
        PAPER_NORMALISATIONS
    )
    restarts: Annotated[int, whole_number("restarts", 0, MOST_RESTARTS)] = 100
    centre: Annotated[str, one_of("centre", CENTRES)] = "exact"
    dtype: Annotated[str, one_of("dtype", DTYPES)] = "float64"
    clusterers: Annotated[tuple[str, ...], some_names("clusterer", CLUSTERERS, least=0)] = ()
    parts: Annotated[tuple[str, ...], some_of("part", PARTS, least=0)] = PARTS
    datasets: Any
    scores: Annotated[
        tuple[str, ...], some_names("score", SCORES, least=0), BeforeValidator(_scores_of_blocks)
    ] = Field(default_factory=_default_scores)
    keep: Annotated[tuple[str, ...], some_of("kind of result", KEEP, least=0)] = Field(
        default_factory=_default_keep
    )
    p1: _Exponents = Field(default=_PAPER_GRID)
    p2: _Exponents = Field(default=_PAPER_GRID)

    @field_validator("parts")
    @classmethod
    def _drop_kmeans_without_restarts(
        cls, parts: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        clusterers = info.data.get("clusterers")
        if not parts and not clusterers:
            raise ValueError(f"give at least one part. Known: {', '.join(PARTS)}.")
        if info.data.get("restarts") != 0:
            return parts
        left = tuple(part for part in parts if part not in RESTARTED)
        if not left and not clusterers:
            raise ValueError(
                "nothing is left to compute with restarts = 0. Give restarts of at least 1."
            )
        return left

    if not TYPE_CHECKING:  # type checkers derive the keys from the fields

        def __init__(self, **given: Any) -> None:
            with self._raising_spec_errors():
                super().__init__(**given)

    @classmethod
    def model_validate(cls, obj: Any, **options: Any) -> Self:
        """Return the spec of a mapping, or raise `SpecError`."""
        with cls._raising_spec_errors():
            return super().model_validate(obj, **options)

    @classmethod
    @contextmanager
    def _raising_spec_errors(cls) -> Iterator[None]:
        try:
            yield
        except ValidationError as error:
            raise spec_error(error, {(): cls.model_fields, **cls.data_keys}) from None


class SweepSpec(SpecKeys):
    r"""The definition of a sweep: data sets, normalisations, exponents, restarts and parts.

    Names are kept in the paper's order and exponents are sorted, in whatever order they were
    given. Specs with the same fingerprint are therefore equal.

    Parameters
    ----------
    datasets : mapping
        ``{"synthetic": {"configs": names or "all", "count": data sets of each}}``,
        ``{"generated": {name: Generated}}`` or ``{"matrices": {name: TableFacts}}``, or several of
        them.
    seed : int
        Seed of all random streams.
    normalisations, parts : iterable of str
        Some of `NORMALISATIONS` and of `PARTS`. With 0 restarts the k-means parts are dropped.
    clusterers : iterable of str
        Other algorithms to run on the normalised and on the rescaled data: ``ward``, ``average``,
        ``gmm``, ``spectral``. None by default. With at least one, `parts` may be empty.
    plugins : iterable of PluginFacts
        What is recorded of the plug-ins that normalisations, clusterers and scores name. By
        default that of the installed ones.
    restarts : int
        Number of restarts of k-means++, and of clusterers that start at random, on every data set.
    centre, dtype : str
        As for `imwk`.
    scores : iterable of str
        Some of `SCORES`, which rate labellings beside the ARI. By default those of
        `DEFAULT_SCORES`, which need no classes, if there are tables, otherwise none.
    keep : iterable of str
        Some of `KEEP`: store the labels and the feature weights of every run of imwk-means, and the
        labels of the k-means++ restart of least inertia. By default both if there are tables,
        otherwise none.
    p1, p2 : mapping or iterable of float
        Exponents of the run that rescales, and of imwk-means on the rescaled data: ``start``,
        ``stop`` and ``step``, or ``values``.
    rules : int
        The version of the rules by which results are computed (`pipeline.rules`). Leave it out:
        only specs of cubes of earlier versions have another one, and those are not computed.

    Raises
    ------
    SpecError
        If anything is invalid. The message lists each wrong key, its value and what is allowed.

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

    data_keys: ClassVar[AllowedKeys] = {
        ("datasets",): Datasets.model_fields,
        ("datasets", "synthetic"): Synthetic.model_fields,
        ("datasets", "generated", "*"): Generated.model_fields,
        ("datasets", "matrices", "*"): TableFacts.model_fields,
        ("datasets", "plugin", "*"): GeneratorData.model_fields,
    }

    datasets: Datasets
    rules: Annotated[int, whole_number("rules", FIRST_RULES, MOST_RULES)] = RULES

    @field_validator("scores")
    @classmethod
    def _require_scores_without_classes(
        cls, scores: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        datasets: Datasets | None = info.data.get("datasets")
        known = {name: SCORE_FACTS[name] for name in SCORES}
        known |= plugin_scores(info.data.get("plugins", ()))
        without_classes = [name for name, facts in known.items() if not facts.needs_classes]
        unlabelled = () if datasets is None else datasets.unlabelled
        if unlabelled and not set(scores) & set(without_classes):
            raise ValueError(
                f"{unlabelled[0]} has no labels, so its clusters can only be rated by scores that "
                f"need none. Give at least one: {', '.join(without_classes)}."
            )
        return scores

    @model_serializer(mode="wrap")
    def _omit_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Omit what synthetic data lack by default, so that older specs keep their fingerprint."""
        data: dict[str, Any] = handler(self)
        for key in ("scores", "keep"):
            if not getattr(self, key) and not self.datasets.has_tables:
                data.pop(key, None)
        return {key: data[key] for key in data if data[key] or key not in ("plugins", "clusterers")}

    @classmethod
    def from_stored(cls, keys: Any) -> Self:
        """Return the spec that a cube stores.

        Earlier versions had no `keep`, and kept nothing; and no `rules`, which were the first ones.

        Examples
        --------
        >>> facts = TableFacts(k=2, rows=9, features=3, labelled=True, sha256="0" * 64)
        >>> stored = {"datasets": {"matrices": {"mine": facts}}}
        >>> SweepSpec.from_stored(stored).keep, SweepSpec.model_validate(stored).keep
        ((), ('labels', 'weights'))
        >>> SweepSpec.from_stored(stored).rules, SweepSpec.model_validate(stored).rules
        (1, 2)
        """
        # Opening a cube looks for no plug-in: one without records has none.
        before = {"keep": (), "rules": FIRST_RULES, "plugins": ()}
        return cls.model_validate({**before, **keys} if isinstance(keys, Mapping) else keys)

    def with_defaults_of(self, stored: "SweepSpec") -> "SweepSpec":
        """Return this spec with `scores` and `keep` of another one, where none were given.

        So a spec without these keys fits a cube of an earlier version, which had other defaults.
        """
        missing = {"scores", "keep"} - self.model_fields_set
        return self.model_copy(update={key: getattr(stored, key) for key in missing})

    @property
    def fingerprint(self) -> str:
        """SHA-256 of everything that determines the results, as 64 hexadecimal digits."""
        keys = self.model_dump(mode="json")
        if not self.keep:  # earlier versions had no such key
            keys.pop("keep", None)
        if self.rules == FIRST_RULES:  # nor this one
            del keys["rules"]
        return hashlib.sha256(json.dumps(keys, sort_keys=True).encode()).hexdigest()

    @property
    def configs(self) -> tuple[str, ...]:
        """All configurations of all sources, in order."""
        return self.datasets.configs

    def dataset_count(self, config: str) -> int:
        """Return the number of data sets of a configuration."""
        counts = self.datasets.counts
        return counts[as_choice(config, "configuration", counts)]

    def shape(self, config: str) -> tuple[int, int, int]:
        """Return the numbers of entities, features and clusters of a configuration's data sets."""
        as_choice(config, "configuration", self.configs)
        facts = self.datasets.matrices.get(config) or self.datasets.plugin.get(config)
        if facts is not None:
            return facts.rows, facts.features, facts.k
        made = self.datasets.configurations[config]
        return made.entities, made.total_features, made.clusters

    @property
    def unlabelled(self) -> tuple[str, ...]:
        """Configurations without known classes, which have no ARI."""
        return self.datasets.unlabelled

    @property
    def tiles(self) -> tuple[Tile, ...]:
        """All tiles, breadth-first: the first data set of every configuration comes first."""
        counts = {config: self.dataset_count(config) for config in self.configs}
        return tuple(
            Tile(config, dataset, normalisation)
            for dataset, config, normalisation in product(
                range(max(counts.values())), counts, self.normalisations
            )
            if dataset < counts[config]
        )

    def to_toml(self) -> str:
        """Return the spec as TOML. Reading it gives an equal spec, by the present rules."""
        return as_toml(self.model_dump(mode="json", exclude={"rules"}))
