"""Whether a spec fits a cube, how the two differ, and whether the cube can still be computed."""

from pipeline.rules import RULES, changes_since
from pipeline.spec import SweepSpec
from pipeline.spec.diff import diff
from pipeline.spec.generators import GeneratorData
from storage.backends.location import CubeLocation
from storage.errors import CubeMismatchError

#: A cube can be extended in these fields of its spec; the others decide its results.
CAN_GROW = ("datasets", "normalisations", "plugins", "p1", "p2")


def refuse_another_spec(location: CubeLocation, stored: SweepSpec, given: SweepSpec) -> None:
    """Raise `CubeMismatchError` unless a spec is that of the cube."""
    refuse_other_rules(location, stored)
    if stored != given:
        raise CubeMismatchError(
            f"The cube {location} was created for another sweep:\n{differences(stored, given)}\n"
            "Choose another cube, or give the cube's own spec. If the spec contains everything "
            "that the cube has, extend the cube with storage.extend_cube, or on the command line "
            "with imwk extend CUBE SPEC."
        )


def refuse_smaller_spec(location: CubeLocation, stored: SweepSpec, given: SweepSpec) -> None:
    """Raise `CubeMismatchError` unless a cube can be extended to a spec."""
    refuse_other_rules(location, stored)
    fixed = set(SweepSpec.model_fields) - set(CAN_GROW)
    data, made = given.datasets.matrices, given.datasets.configurations
    covers = (
        set(stored.tiles) <= set(given.tiles)
        and set(stored.plugins) <= set(given.plugins)
        and all(data[name].begins_with(facts) for name, facts in stored.datasets.matrices.items())
        and all(made[name] == each for name, each in stored.datasets.configurations.items())
        and all(map(_same_source, stored.datasets.plugin.values(), _sources(stored, given)))
        and set(stored.p1) <= set(given.p1)
        and set(stored.p2) <= set(given.p2)
    )
    if not covers or any(getattr(stored, name) != getattr(given, name) for name in fixed):
        raise CubeMismatchError(
            f"The cube {location} cannot be extended to this sweep:\n"
            f"{differences(stored, given)}\n"
            "The spec must have all data sets, normalisations and exponents of the cube, and may "
            "have more; everything else must be equal. Add what is missing, or create a new cube."
        )


def refuse_other_rules(location: CubeLocation, stored: SweepSpec) -> None:
    """Raise `CubeMismatchError` if a cube was computed by other rules than the present ones."""
    if stored.rules != RULES:
        raise CubeMismatchError(
            f"The cube {location} was computed by version {stored.rules} of the rules, and this "
            f"imwk-sweep computes by version {RULES}: {changes_since(stored.rules)}. One cube "
            "cannot have results of both. It can be read, queried, verified and exported, but not "
            "resumed, retried, extended, scored or computed again. Submit the sweep to a new cube, "
            "or install the imwk-sweep that created this one."
        )


def _sources(stored: SweepSpec, given: SweepSpec) -> list[GeneratorData | None]:
    return [given.datasets.plugin.get(config) for config in stored.datasets.plugin]


def _same_source(stored: GeneratorData, given: GeneratorData | None) -> bool:
    """Return whether a generator makes the same data sets, and maybe more of them."""
    return given is not None and stored == given.model_copy(update={"count": stored.count})


def differences(stored: SweepSpec, given: SweepSpec) -> str:
    """Return how two specs differ, one line for each key.

    Examples
    --------
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> print(differences(spec, spec.model_copy(update={"seed": 7, "p2": (1.5, 2.0)})))
      seed: 2020 (cube), 7 (spec)
      p2: 1.1 to 5.0 in steps of 0.1 (cube), 1.5, 2.0 (spec)
    """
    return "\n".join(
        f"  {each.key}: {each.first} (cube), {each.second} (spec)" for each in diff(stored, given)
    )
