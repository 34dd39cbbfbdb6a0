"""The checks of a spec that concern plug-ins, for the model of its keys."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pydantic import ValidationInfo, field_validator, model_validator

from pipeline.errors import BadEntryError
from pipeline.spec.fields import FrozenModel
from pipeline.spec.generators import UNKNOWN, with_shapes
from pipeline.spec.plugins import (
    PluginFacts,
    clusterer_parts,
    named_plugins,
    random_clusterers,
    refuse_equal_variables,
)

#: The paper's four algorithms. A sweep computes some or all of them.
PARTS = ("kmeans", "imwk", "rescaled_kmeans", "rescaled_imwk")


class PluggableKeys(FrozenModel):
    """A model of keys that may name plug-ins. The model that derives from it has the fields."""

    if TYPE_CHECKING:
        plugins: tuple[PluginFacts, ...]
        clusterers: tuple[str, ...]
        parts: tuple[str, ...]

    @model_validator(mode="before")
    @classmethod
    def _find_plugins(cls, keys: Any) -> Any:
        """Record the plug-ins that are named, unless records are given, as in a cube's spec."""
        if not isinstance(keys, Mapping) or "plugins" in keys:
            return keys
        found, keys = named_plugins(keys), with_shapes(keys)
        return {**keys, "plugins": found} if found else keys

    @field_validator("datasets", check_fields=False)
    @classmethod
    def _require_generators(cls, datasets: Any, info: ValidationInfo) -> Any:
        plugins = info.data.get("plugins", ())
        known = [facts.name for facts in plugins if facts.kind == "generator"]
        for config, source in datasets.plugin.items():
            if source.generator not in known:
                raise BadEntryError(
                    ("plugin", config, "generator"),
                    source.generator,
                    UNKNOWN,
                )
        return datasets

    @field_validator("clusterers", check_fields=False)
    @classmethod
    def _require_restarts(
        cls, clusterers: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        for name, random in random_clusterers(clusterers, info.data.get("plugins", ())).items():
            if random and info.data.get("restarts") == 0:
                raise ValueError(f"{name} starts at random. Give restarts of at least 1.")
        return clusterers

    @field_validator("scores", check_fields=False)
    @classmethod
    def _refuse_equal_variables(
        cls, scores: tuple[str, ...], info: ValidationInfo
    ) -> tuple[str, ...]:
        parts = (*PARTS, *clusterer_parts(info.data.get("clusterers", ())))
        refuse_equal_variables(parts, scores)
        return scores

    @property
    def all_parts(self) -> tuple[str, ...]:
        """Everything that is computed: the parts, and the clusterers on both kinds of data."""
        return (*self.parts, *clusterer_parts(self.clusterers))
