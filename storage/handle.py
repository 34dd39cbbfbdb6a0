"""An opened cube: its spec, its grids and its coordinates, checked before anything else."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.errors import GroupNotFoundError

from pipeline.errors import SpecError
from pipeline.spec import SweepSpec, Tile
from storage.backends.location import CubeLocation, store_at
from storage.errors import CubeError, DamagedCubeError, storage_errors
from storage.layout.axes import Axes, TileIndex
from storage.layout.grids import Grid
from storage.layout.schema import SCHEMA_NAME, SCHEMA_VERSION, Variable, variables
from storage.layout.skeleton import DIMS


@dataclass(frozen=True)
class Cube:
    """What is needed to read or write tiles."""

    location: CubeLocation
    group: zarr.Group
    spec: SweepSpec
    grids: tuple[Grid, ...]
    axes: Axes

    def array(self, name: str) -> zarr.Array[Any]:
        """Return one array."""
        return as_array(self.group, name)

    def clusters(self, tile: Tile) -> int:
        """Return the number of clusters that a tile's data set is asked for."""
        *_, clusters = self.spec.shape(tile.config)
        return clusters

    def index(self, tile: Tile) -> TileIndex:
        """Return where a tile lies."""
        return self.axes.index(tile)

    def results(self, config: str) -> tuple[Variable, ...]:
        """Return the variables that the cube's sweep computes for a configuration."""
        labelled = config not in self.spec.unlabelled
        return tuple(
            variable
            for variable in variables(self.spec.scores).values()
            if variable.part in self.spec.parts and (labelled or not variable.needs_labels)
        )

    def places(
        self, variable: Variable, p1: Iterable[float], p2: Iterable[float]
    ) -> list[NDArray[np.intp]]:
        """Return where cells of a tile lie in a variable, for each dimension after the tile's."""
        labels = {"p1": p1, "p2": p2, "restart": self.axes.restart}
        return [self.axes.positions(dim, labels[dim]) for dim in variable.dims]


def open_group(location: CubeLocation, *, writable: bool = False) -> Cube:
    """Open a cube and read what describes it, or say why that cannot be done."""
    mode: Literal["r", "r+"] = "r+" if writable else "r"
    with storage_errors(f"open the cube {location}"):
        try:
            store = store_at(location, writable=writable)
            group = zarr.open_group(store, mode=mode, zarr_format=3)  # asks for no other
        except (GroupNotFoundError, FileNotFoundError) as error:
            raise CubeError(
                f"There is no cube at {location}. Make one with imwk submit SPEC CUBE."
            ) from error
    spec = _spec_of(location, group)
    with storage_errors(f"read the coordinates of the cube {location}"):
        listed: Any = group.attrs["grids"]
        grids = tuple(Grid(tuple(grid["p1"]), tuple(grid["p2"])) for grid in listed)
        axes = Axes(*(tuple(np.asarray(as_array(group, dim)[:]).tolist()) for dim in DIMS))
    if not axes.holds(spec):
        raise DamagedCubeError(
            f"The coordinates of {location} are not those of its spec. Restore it from a backup."
        )
    return Cube(location, group, spec, grids, axes)


def _spec_of(location: CubeLocation, group: zarr.Group) -> SweepSpec:
    attributes = group.attrs.asdict()
    if attributes.get("schema") != SCHEMA_NAME:
        raise CubeError(f"{location} is a Zarr group, but no cube of imwk-sweep. Choose another.")
    version = attributes.get("schema_version")
    if version != SCHEMA_VERSION:
        raise CubeError(
            f"{location} has version {version} of the cube's schema, this imwk-sweep reads "
            f"version {SCHEMA_VERSION}. Install the imwk-sweep that made it."
        )
    try:
        return SweepSpec.model_validate(attributes["spec"])
    except (KeyError, SpecError) as error:
        raise CubeError(f"The spec in the cube {location} cannot be used: {error}") from error


def as_array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """Return an array of a group."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise CubeError(f"{name} is no array of the cube. It is damaged: make it again.")
    return array
