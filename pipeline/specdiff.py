"""Where two specs differ, in words."""

from dataclasses import dataclass

from pipeline.datasets import CONFIGURATIONS
from pipeline.exponents import exponents_in_words
from pipeline.spec import SweepSpec


@dataclass(frozen=True)
class Difference:
    """A key whose values differ in two specs, each in words."""

    key: str
    first: str
    second: str


def diff(first: SweepSpec, second: SweepSpec) -> tuple[Difference, ...]:
    """List where two specs differ.

    Parameters
    ----------
    first, second : SweepSpec
        Such as that of a cube and that of a sweep to be put in it.

    Returns
    -------
    tuple of Difference
        Empty for equal specs.

    Examples
    --------
    >>> data = {"synthetic": {"configs": "all", "count": 50}}
    >>> one = SweepSpec(datasets=data, p1=[1.5, 2], restarts=20)
    >>> for each in diff(one, SweepSpec(datasets=data)):
    ...     print(each.key, "|", each.first, "|", each.second)
    restarts | 20 | 100
    p1 | 1.5, 2.0 | 1.1 to 5.0 in steps of 0.1
    """
    left, right = _in_words(first), _in_words(second)
    return tuple(Difference(key, left[key], right[key]) for key in left if left[key] != right[key])


def _in_words(spec: SweepSpec) -> dict[str, str]:
    synthetic = spec.datasets.synthetic
    every = len(synthetic.configs) == len(CONFIGURATIONS)
    return {
        "seed": str(spec.seed),
        "normalisations": ", ".join(spec.normalisations),
        "restarts": str(spec.restarts),
        "centre": spec.centre,
        "dtype": spec.dtype,
        "parts": ", ".join(spec.parts),
        "datasets.synthetic.configs": "all" if every else ", ".join(synthetic.configs),
        "datasets.synthetic.count": str(synthetic.count),
        "p1": exponents_in_words(spec.p1),
        "p2": exponents_in_words(spec.p2),
    }
