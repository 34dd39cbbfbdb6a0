"""Where two specs differ, in words."""

from dataclasses import dataclass

from pipeline.datasets import CONFIGURATIONS
from pipeline.spec.exponents import exponents_in_words
from pipeline.spec.model import SweepSpec
from pipeline.spec.problems import dotted
from pipeline.spec.sources import Datasets


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
    keys = dict.fromkeys((*left, *right))
    both = ((key, left.get(key, "none"), right.get(key, "none")) for key in keys)
    return tuple(Difference(*each) for each in both if each[1] != each[2])


def _in_words(spec: SweepSpec) -> dict[str, str]:
    return {
        "seed": str(spec.seed),
        "normalisations": ", ".join(spec.normalisations),
        "restarts": str(spec.restarts),
        "centre": spec.centre,
        "dtype": spec.dtype,
        "parts": ", ".join(spec.parts),
        **_data_in_words(spec.datasets),
        "scores": ", ".join(spec.scores) or "none",
        "p1": exponents_in_words(spec.p1),
        "p2": exponents_in_words(spec.p2),
    }


def _data_in_words(datasets: Datasets) -> dict[str, str]:
    words = {}
    synthetic = datasets.synthetic
    if synthetic is not None:
        every = len(synthetic.configs) == len(CONFIGURATIONS)
        words["datasets.synthetic.configs"] = "all" if every else ", ".join(synthetic.configs)
        words["datasets.synthetic.count"] = str(synthetic.count)
    for name, facts in datasets.matrices.items():
        labels = "labels" if facts.labelled else "no labels"
        words[dotted(("datasets", "matrices", name))] = (
            f"{facts.rows} x {facts.features}, {labels}, k = {facts.k}, sha256 {facts.sha256}"
        )
    return words
