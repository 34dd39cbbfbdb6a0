"""Data sets of plug-in generators, as a spec describes them."""

from collections.abc import Mapping
from math import isfinite
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer

from pipeline.core.types import Float64Array, IntArray
from pipeline.core.validation import as_whole_number
from pipeline.datasets.tables.columns import MOST_CELLS, MOST_ROWS
from pipeline.errors import PluginError, Problem, SpecError
from pipeline.plugins.calls import generated
from pipeline.plugins.registry import find_plugin
from pipeline.seeds import seed_sequence
from pipeline.spec.fields import FrozenModel, whole_number
from pipeline.spec.problems import dotted, shown

#: Far above any feasible sweep, to catch typing errors.
MOST_DATASETS = 10_000
UNKNOWN = "no generator of this name is installed or registered."
#: The seed of a spec that gives none.
DEFAULT_SEED = 2020

Parameter = bool | int | float | str


def _parameters(given: Any) -> Any:
    """Refuse what a cube could not store; JSON has neither NaN nor infinite numbers."""
    for name, value in given.items() if isinstance(given, Mapping) else ():
        for each in value if isinstance(value, list) else [value]:
            if not isinstance(each, Parameter) or (isinstance(each, float) and not isfinite(each)):
                raise ValueError(
                    f"{name} must be a text, true, false or a finite number, or a list of these."
                )
    return given


class GeneratorData(FrozenModel):
    """The data sets that a generator makes for one configuration.

    Attributes
    ----------
    generator : str
        The name of the plug-in.
    count : int
        Number of data sets.
    parameters : dict
        The generator's keyword arguments: numbers, texts, or lists of them.
    rows, features, k : int
        The shape of every data set, and the number of clusters to find. By default those of data
        set 0, and the number of its classes.
    """

    generator: str = Field(strict=True)
    count: Annotated[int, whole_number("count", 1, MOST_DATASETS)]
    parameters: Annotated[dict[str, Parameter | list[Parameter]], BeforeValidator(_parameters)] = (
        Field(default={}, strict=True)
    )
    rows: Annotated[int, whole_number("rows", 1, MOST_ROWS)]
    features: Annotated[int, whole_number("features", 1, MOST_CELLS)]
    k: Annotated[int, whole_number("k", 1, MOST_ROWS)]

    @model_serializer(mode="wrap")
    def _omit_no_parameters(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        data = dict(handler(self))
        if not self.parameters:
            data.pop("parameters", None)
        return data

    def data(self, seed: int, config: str, dataset: int) -> tuple[Float64Array, IntArray]:
        """Return a data set and its classes, from the sweep's seed and the coordinates."""
        X, y = _made(seed, config, dataset, self.generator, self.parameters)
        if X.shape != (self.rows, self.features):
            raise PluginError(
                f"The generator {self.generator!r} made data set {dataset} of {config} with the "
                f"shape {X.shape}, not ({self.rows}, {self.features}). All must have the same."
            )
        return X, y

    def __str__(self) -> str:
        given = "".join(f", {name} = {value}" for name, value in self.parameters.items())
        shape = f"{self.rows} x {self.features}, k = {self.k}"
        return f"{self.count} of {self.generator}, {shape}{given}"


def with_shapes(keys: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the keys of a spec with the shapes of generated data, where they are not given.

    Data set 0 is generated for that. Wrong values are left to be refused.
    """
    datasets = keys.get("datasets")
    sources = datasets.get("plugin") if isinstance(datasets, Mapping) else None
    if not isinstance(datasets, Mapping) or not isinstance(sources, Mapping):
        return keys
    seed = keys.get("seed", DEFAULT_SEED)
    shaped = {config: _with_shape(seed, config, source) for config, source in sources.items()}
    return {**keys, "datasets": {**datasets, "plugin": shaped}}


def _with_shape(seed: Any, config: str, source: Any) -> Any:
    if not isinstance(source, Mapping) or {"rows", "features", "k"} <= source.keys():
        return source
    name, parameters = source.get("generator"), source.get("parameters", {})
    if not isinstance(name, str) or not isinstance(parameters, Mapping):
        return source
    if find_plugin("generator", name) is None:
        key = dotted(("datasets", "plugin", config, "generator"))
        raise SpecError([Problem(key, UNKNOWN, shown(name))])
    X, y = _made(as_whole_number(seed, "seed", 0), config, 0, name, parameters)
    rows, features = X.shape
    return {"rows": rows, "features": features, "k": len(set(y.tolist())), **source}


def _made(
    seed: int, config: str, dataset: int, name: str, parameters: Mapping[str, Any]
) -> tuple[Float64Array, IntArray]:
    stream = seed_sequence(seed, "generator", config, dataset)
    return generated(name, int(stream.generate_state(1)[0]), parameters)
