"""Two specs that do not fit, said in words."""

from pipeline.spec import SweepSpec
from pipeline.spec.diff import diff
from storage.backends.location import CubeLocation
from storage.errors import CubeMismatchError

#: A cube can grow in these; all others decide the results that it has.
CAN_GROW = ("datasets", "normalisations", "p1", "p2")


def refuse_another_spec(location: CubeLocation, stored: SweepSpec, given: SweepSpec) -> None:
    """Refuse a spec that is not the cube's own."""
    if stored != given:
        raise CubeMismatchError(
            f"The cube {location} was made for another sweep:\n{differences(stored, given)}\n"
            "Choose another cube, give the cube's own spec or, if the spec has more than the "
            "cube, extend it: imwk extend CUBE SPEC."
        )


def refuse_smaller_spec(location: CubeLocation, stored: SweepSpec, given: SweepSpec) -> None:
    """Refuse a spec that lacks something of the cube or decides results in another way."""
    fixed = set(SweepSpec.model_fields) - set(CAN_GROW)
    data = given.datasets.matrices
    covers = (
        set(stored.tiles) <= set(given.tiles)
        and all(data[name] == facts for name, facts in stored.datasets.matrices.items())
        and set(stored.p1) <= set(given.p1)
        and set(stored.p2) <= set(given.p2)
    )
    if not covers or any(getattr(stored, name) != getattr(given, name) for name in fixed):
        raise CubeMismatchError(
            f"The cube {location} cannot be extended to this sweep:\n"
            f"{differences(stored, given)}\n"
            "An extension has all data sets, normalisations and exponents of the cube, and some "
            "more, and is equal in all else. Add what is missing, or make a new cube."
        )


def differences(stored: SweepSpec, given: SweepSpec) -> str:
    """List where two specs differ, a line for each key.

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
