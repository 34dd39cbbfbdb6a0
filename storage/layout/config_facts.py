"""Coordinates along the configurations: the numbers that describe the data of each.

They follow from the spec, so they are computed when a cube is opened and not stored: cubes of
earlier versions have them too, and an extension cannot leave them behind.
"""

from typing import Any

import numpy as np

from pipeline.spec import SweepSpec

#: The coordinates, and one line about each for its attributes.
CONFIG_FACTS = {
    "n": "Number of entities",
    "m": "Number of features before noise is added",
    "k": "Number of clusters",
    "noise": "Kind of noise; empty for tables",
    "noise_share": "Share of noise; not a number for tables",
}


def config_facts(spec: SweepSpec) -> dict[str, tuple[str, list[Any], dict[str, str]]]:
    """Return the coordinates of all configurations of a spec, as xarray takes them.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3", "1000x6-3 WCN"], "count": 2}}
    >>> facts = config_facts(SweepSpec(datasets=data))
    >>> {name: values for name, (_, values, _) in facts.items()}["noise_share"]
    [0.0, 0.5]
    """
    rows = [_facts(spec, config) for config in spec.configs]
    return {
        name: ("config", [row[place] for row in rows], {"long_name": about})
        for place, (name, about) in enumerate(CONFIG_FACTS.items())
    }


def _facts(spec: SweepSpec, config: str) -> tuple[int, int, int, str, float]:
    made = spec.datasets.configurations.get(config)
    if made is None:
        return (*spec.shape(config), "", np.nan)
    return made.entities, made.features, made.clusters, made.noise, made.noise_share
