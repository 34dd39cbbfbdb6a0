"""What a spec records of plug-ins, and whether this process has them.

A spec that people write has names only, which are looked up among installed plug-ins. A spec that
a cube stores has these records, so that the cube can be read without any plug-in.
"""

import re
from collections.abc import Collection, Iterable, Mapping
from math import inf, isfinite
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    ValidationInfo,
    model_serializer,
    model_validator,
)

from pipeline.core.errors import InvalidInputError
from pipeline.core.normalise import NORMALISATIONS
from pipeline.errors import PluginError
from pipeline.plugins.kinds import CLUSTERERS, GROUPS, Clusterer, Plugin, Score, is_name
from pipeline.plugins.registry import find_plugin
from pipeline.plugins.sklearn_clusterers import require_sklearn
from pipeline.score_facts import SCORE_FACTS, ScoreFacts, suffix
from pipeline.spec.fields import FrozenModel, chosen_names, is_list, one_of

#: The keys of a spec that may name plug-ins: their kind, and the names that are built in.
NAMING_KEYS: Mapping[str, tuple[str, Collection[str]]] = {
    "normalisations": ("normalisation", NORMALISATIONS),
    "clusterers": ("clusterer", CLUSTERERS),
    "scores": ("score", SCORE_FACTS),
}
#: Versions of distributions: the characters that the standard, PEP 440, allows.
VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.!+_-]*", re.ASCII)
#: The parts with which a clusterer begins that runs on rescaled data.
RESCALED = "rescaled_"


class PluginFacts(FrozenModel):
    """What a spec records of a plug-in: what decides its results, and how to use them.

    Attributes
    ----------
    kind, name, version, distribution
        As in `pipeline.plugins.kinds.Plugin`.
    random : bool
        As in `Clusterer`.
    higher_is_better, needs_classes, lowest, highest
        As in `Score`. None stands for no bound.
    """

    kind: Annotated[str, one_of("kind of plug-in", GROUPS)]
    name: str = Field(strict=True)
    version: str = Field(strict=True, min_length=1, max_length=100)
    distribution: str | None = Field(
        default=None, strict=True, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=100
    )
    random: bool = Field(default=False, strict=True)
    higher_is_better: bool = Field(default=True, strict=True)
    needs_classes: bool = Field(default=False, strict=True)
    lowest: float | None = Field(default=None, allow_inf_nan=False)
    highest: float | None = Field(default=None, allow_inf_nan=False)

    @model_validator(mode="after")
    def _check_texts(self) -> "PluginFacts":
        if not is_name(self.kind, self.name):
            raise ValueError(f"{self.name!r} cannot be the name of a {self.kind}.")
        if not self.version.isprintable():
            raise ValueError("give a version of printable characters.")
        # People paste the command with both into a shell, and a stranger may have written them.
        if self.distribution is not None and not VERSION.fullmatch(self.version):
            raise ValueError("give the version of a distribution, such as 1.0.")
        return self

    @model_serializer(mode="wrap")
    def _omit_defaults(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        fields = type(self).model_fields
        return {key: each for key, each in handler(self).items() if each != fields[key].default}

    @classmethod
    def of(cls, plugin: Plugin) -> "PluginFacts":
        """Return the facts of a plug-in of this process."""
        facts: dict[str, Any] = {}
        if isinstance(plugin.what, Clusterer):
            facts |= {"random": plugin.what.random}
        if isinstance(plugin.what, Score):
            score = plugin.what
            facts |= {"higher_is_better": score.higher_is_better}
            facts |= {"needs_classes": score.needs_classes}
            facts |= {"lowest": _bound(score.lowest), "highest": _bound(score.highest)}
        return cls(
            kind=plugin.kind,
            name=plugin.name,
            version=plugin.version,
            distribution=plugin.distribution,
            **facts,
        )

    @property
    def score(self) -> ScoreFacts:
        """The facts of the score, if it is one."""
        lowest = -inf if self.lowest is None else self.lowest
        highest = inf if self.highest is None else self.highest
        score = Score(len, self.higher_is_better, self.needs_classes, lowest, highest)
        return score.facts(self.name)

    def __str__(self) -> str:
        return f"{self.kind} {self.name} ({self.distribution or 'registered'} {self.version})"


def _bound(value: float) -> float | None:
    return float(value) if isfinite(value) else None


def named_plugins(keys: Mapping[str, Any]) -> tuple[PluginFacts, ...]:
    """Return the facts of the installed plug-ins that the keys of a spec name; load only these.

    Examples
    --------
    >>> named_plugins({"normalisations": ["range"], "clusterers": ["os:system"], "seed": 1})
    ()
    """
    found = []
    for key, (kind, built_in) in NAMING_KEYS.items():
        given: Any = keys.get(key)
        names = {name for name in given if isinstance(name, str)} if is_list(given) else ()
        plugins = (find_plugin(kind, name) for name in sorted(names) if name not in built_in)
        found += [PluginFacts.of(plugin) for plugin in plugins if plugin is not None]
    datasets: Any = keys.get("datasets")
    sources = datasets.get("plugin") if isinstance(datasets, Mapping) else None
    given = sources.values() if isinstance(sources, Mapping) else ()
    used = {str(source.get("generator")) for source in given if isinstance(source, Mapping)}
    generators = (find_plugin("generator", name) for name in sorted(used))
    return (*found, *(PluginFacts.of(plugin) for plugin in generators if plugin is not None))


def in_order(plugins: Iterable[PluginFacts]) -> tuple[PluginFacts, ...]:
    """Return facts in the order of `named_plugins`, whatever order they were found in."""
    kinds = list(GROUPS)
    return tuple(sorted(plugins, key=lambda each: (kinds.index(each.kind), each.name)))


def some_names(kind: str, built_in: Iterable[str], least: int = 1) -> BeforeValidator:
    """Accept a list of names, built in or of plug-ins that the spec records before this key."""
    known = list(built_in)

    def check(given: Any, info: ValidationInfo) -> tuple[str, ...]:
        recorded = [each.name for each in info.data.get("plugins", ()) if each.kind == kind]
        names = [*known, *sorted(recorded)]
        try:
            return chosen_names(given, kind, names, least)
        except InvalidInputError as error:
            raise ValueError(f"{error} Plug-ins must be installed to be known.") from None

    return BeforeValidator(check)


def clusterer_parts(clusterers: Iterable[str]) -> tuple[str, ...]:
    """Return the parts of a sweep that clusterers compute, on original and on rescaled data.

    Examples
    --------
    >>> clusterer_parts(["ward", "k-medoids"])
    ('ward', 'rescaled_ward', 'k_medoids', 'rescaled_k_medoids')
    """
    stems = [suffix(name) for name in clusterers]
    return tuple(part for stem in stems for part in (stem, f"{RESCALED}{stem}"))


def has_p1(part: str) -> bool:
    """Return whether the results of a part depend on p1.

    Examples
    --------
    >>> [has_p1(part) for part in ("kmeans", "imwk", "rescaled_kmeans", "ward", "rescaled_ward")]
    [False, True, True, False, True]
    """
    return part == "imwk" or part.startswith(RESCALED)


def random_clusterers(clusterers: Iterable[str], plugins: Iterable[PluginFacts]) -> dict[str, bool]:
    """Return whether each clusterer starts at random.

    Examples
    --------
    >>> random_clusterers(["ward", "gmm"], ())
    {'ward': False, 'gmm': True}
    """
    recorded = {each.name: each.random for each in plugins if each.kind == "clusterer"}
    known = CLUSTERERS | recorded
    return {name: known[name] for name in clusterers}


def plugin_scores(plugins: Iterable[PluginFacts]) -> dict[str, ScoreFacts]:
    """Return the facts of the scores among plug-ins, by name."""
    return {each.name: each.score for each in plugins if each.kind == "score"}


def refuse_equal_variables(parts: Iterable[str], scores: Iterable[str]) -> None:
    """Raise an error if two results of a sweep would have the same name.

    Examples
    --------
    >>> refuse_equal_variables(["ward", "ward_a"], ["b", "a-b"])
    Traceback (most recent call last):
    ValueError: two results would be called ward_a_b. Rename a clusterer or a score.
    """
    names = [f"{part}_{suffix(score)}" for part in parts for score in ("ari", *scores)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two results would be called {name}. Rename a clusterer or a score.")


def missing_plugin(plugins: Iterable[PluginFacts], clusterers: Iterable[str]) -> str | None:
    """Return which plug-in this process lacks and what to do about it, or None.

    Examples
    --------
    >>> facts = PluginFacts(kind="score", name="gap", version="1.2", distribution="imwk-gap")
    >>> missing_plugin([facts], [])
    "lacks the score 'gap' of imwk-gap 1.2: pip install imwk-gap==1.2"
    """
    for facts in plugins:
        trouble = _trouble(facts)
        if trouble:
            return trouble
    if set(clusterers) & set(CLUSTERERS):
        try:
            require_sklearn()
        except ImportError as error:
            return f"lacks a package. {error}"
    return None


def require_plugins(
    plugins: Iterable[PluginFacts], clusterers: Iterable[str], who: str = "This machine"
) -> None:
    """Raise an error that says what to install if this process lacks a plug-in of a spec."""
    trouble = missing_plugin(plugins, clusterers)
    if trouble:
        raise PluginError(f"{who} {trouble.rstrip('.')}.")


def require_plugin(plugins: Iterable[PluginFacts], kind: str, name: str) -> None:
    """Raise an error that says what to install if this process lacks a recorded plug-in.

    A name that is not recorded is built in, and nothing is required.

    Examples
    --------
    >>> require_plugin([], "normalisation", "range")
    """
    require_plugins([facts for facts in plugins if (facts.kind, facts.name) == (kind, name)], ())


def _trouble(facts: PluginFacts) -> str | None:
    wanted = f"the {facts.kind} {facts.name!r}"
    remedy = f"pip install {facts.distribution}=={facts.version}"
    try:
        plugin = find_plugin(facts.kind, facts.name)
    except PluginError as error:
        return f"cannot use {wanted}. {error}"
    if plugin is None and facts.distribution is None:
        return (
            f"lacks {wanted}, version {facts.version}, which was registered in Python, and which "
            "only the process that registered it knows. Compute in that process (workers=0), or "
            "install a package that has it as an entry point."
        )
    if plugin is None:
        return f"lacks {wanted} of {facts.distribution} {facts.version}: {remedy}"
    if PluginFacts.of(plugin) == facts:
        return None
    if facts.distribution is None:
        return f"has {plugin}, not version {facts.version}. Register that version"
    return f"has {plugin}, not that of {facts.distribution} {facts.version}: {remedy}"
