"""The attributes of a cube: its spec, and the grids that decide what a tile lacks."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from pipeline.spec import SweepSpec
from storage.layout.cf import dataset_attributes
from storage.layout.grids import Grid
from storage.layout.schema import SCHEMA_NAME, SCHEMA_VERSION


def cube_attributes(spec: SweepSpec, before: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the attributes of a cube for `spec`; `before` are those before an extension."""
    attributes = dict(before or {"id": uuid4().hex, "created": now(), "grids": []})
    grid = Grid.of(spec)
    entry = {"p1": list(grid.p1), "p2": list(grid.p2)}
    if entry not in attributes["grids"][-1:]:
        attributes["grids"] = [*attributes["grids"], entry]
    return attributes | {
        **dataset_attributes(),
        "schema": SCHEMA_NAME,
        "schema_version": SCHEMA_VERSION,
        "updated": now(),
        "spec": spec.model_dump(mode="json"),
        "fingerprint": spec.fingerprint,
    }


def as_texts(attributes: Mapping[Any, Any]) -> dict[str, Any]:
    """Return attributes with JSON in place of lists and mappings, which NetCDF does not have.

    Examples
    --------
    >>> as_texts({"id": "4f", "spec": {"seed": 1}})
    {'id': '4f', 'spec': '{"seed": 1}'}
    """
    return {
        str(name): json.dumps(value) if isinstance(value, Mapping | list) else value
        for name, value in attributes.items()
    }


def read_attribute(attributes: Mapping[Any, Any], name: str, absent: Any) -> Any:
    """Return an attribute of an open cube: its value, or what its JSON says.

    Examples
    --------
    >>> read_attribute({"spec": '{"seed": 1}'}, "spec", {})
    {'seed': 1}
    >>> read_attribute({"unlabelled": ["mine"]}, "unlabelled", []), read_attribute({}, "spec", {})
    (['mine'], {})
    """
    value = attributes.get(name, absent)
    return json.loads(value) if isinstance(value, str) else value


def group_document(attributes: Mapping[str, Any]) -> bytes:
    """Return Zarr's document of a group that has attributes only."""
    document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    return json.dumps(document).encode()


def now() -> str:
    """Return the time as text, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")
