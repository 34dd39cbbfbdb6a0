"""A small spec for tests, variations of it, and TOML."""

import json
import math
from collections.abc import Mapping
from datetime import date
from typing import Any

from pipeline.spec import SweepSpec

#: Takes seconds: the paper's smallest data, few exponents and few restarts.
SMALL: dict[str, Any] = {
    "seed": 2020,
    "normalisations": ["range"],
    "restarts": 3,
    "centre": "exact",
    "dtype": "float64",
    "parts": ["kmeans", "imwk", "rescaled_kmeans", "rescaled_imwk"],
    "datasets": {"synthetic": {"configs": ["1000x6-3"], "count": 1}},
    "p1": [1.5, 2.0],
    "p2": [1.3, 3.0],
}


def small(**changes: Any) -> SweepSpec:
    """Return the small spec with some keys changed."""
    return SweepSpec(**SMALL | changes)


def synthetic(configs: object, count: object) -> dict[str, Any]:
    """Return the table `datasets`."""
    return {"synthetic": {"configs": configs, "count": count}}


def as_toml(value: Any) -> str:
    """Write any value as TOML, tables inline."""
    match value:
        case Mapping():
            entries = (
                f"{json.dumps(key, ensure_ascii=False)} = {as_toml(item)}"
                for key, item in value.items()
            )
            return f"{{ {', '.join(entries)} }}"
        case list() | tuple():
            return f"[{', '.join(map(as_toml, value))}]"
        case date():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return str(value)
        case int() if not isinstance(value, bool):
            return hex(value) if value >= 2**63 else str(value)
        case _:
            return json.dumps(value, ensure_ascii=False)


def document(spec: Mapping[str, Any]) -> str:
    """Write a spec's keys and values as a TOML document."""
    return "".join(
        f"{json.dumps(key, ensure_ascii=False)} = {as_toml(value)}\n" for key, value in spec.items()
    )
