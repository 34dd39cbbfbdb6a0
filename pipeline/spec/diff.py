"""The differences between two specs, as text."""

import json
from dataclasses import dataclass

from pipeline.datasets import CONFIGURATIONS
from pipeline.spec.exponents import describe_exponents
from pipeline.spec.model import SweepSpec
from pipeline.spec.problems import dotted
from pipeline.spec.sources import Datasets


@dataclass(frozen=True)
class Difference:
    """A key whose values differ between two specs, and both values as text."""

    key: str
    first: str
    second: str


def diff(first: SweepSpec, second: SweepSpec) -> tuple[Difference, ...]:
    """Return the differences between two specs.

    Parameters
    ----------
    first, second : SweepSpec
        For example the spec of a cube, and that of a sweep to be stored in it.

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
    left, right = _as_text(first), _as_text(second)
    keys = dict.fromkeys((*left, *right))
    both = ((key, left.get(key, "none"), right.get(key, "none")) for key in keys)
    return tuple(Difference(*each) for each in both if each[1] != each[2])


def _as_text(spec: SweepSpec) -> dict[str, str]:
    return {
        "seed": str(spec.seed),
        "normalisations": ", ".join(spec.normalisations),
        "restarts": str(spec.restarts),
        "centre": spec.centre,
        "dtype": spec.dtype,
        "parts": ", ".join(spec.parts) or "none",
        "clusterers": ", ".join(spec.clusterers) or "none",
        "plugins": ", ".join(map(str, spec.plugins)) or "none",
        **_datasets_as_text(spec.datasets),
        "scores": ", ".join(spec.scores) or "none",
        "keep": ", ".join(spec.keep) or "none",
        "p1": describe_exponents(spec.p1),
        "p2": describe_exponents(spec.p2),
        "rules": str(spec.rules),
    }


def _datasets_as_text(datasets: Datasets) -> dict[str, str]:
    texts = {}
    synthetic = datasets.synthetic
    if synthetic is not None:
        every = len(synthetic.configs) == len(CONFIGURATIONS)
        texts["datasets.synthetic.configs"] = "all" if every else ", ".join(synthetic.configs)
        texts["datasets.synthetic.count"] = str(synthetic.count)
    for name, data in datasets.generated.items():
        for key, value in data.model_dump(mode="json").items():
            texts[dotted(("datasets", "generated", name, key))] = json.dumps(value)
    for name, facts in datasets.matrices.items():
        labels = "labels" if facts.labelled else "no labels"
        texts[dotted(("datasets", "matrices", name))] = (
            f"{facts.rows} x {facts.features}, {labels}, k = {facts.k}, sha256 "
            f"{', '.join(facts.hashes)}"
        )
    for name, source in datasets.plugin.items():
        texts[dotted(("datasets", "plugin", name))] = str(source)
    return texts
