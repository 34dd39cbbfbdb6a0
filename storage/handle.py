"""The cube handle: an open Zarr group with the spec, the grids and the coordinates of a cube."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray

from pipeline.errors import SpecError
from pipeline.spec import SweepSpec, Tile
from storage.backends.location import CubeLocation, backend_at
from storage.backends.protocol import Backend
from storage.errors import CubeError, CubeNotFoundError, DamagedCubeError, storage_errors
from storage.layout.axes import Axes, TileIndex
from storage.layout.grids import Grid
from storage.layout.kept import KeptVariable, kept_group, kept_variables
from storage.layout.schema import SCHEMA_NAME, SCHEMA_VERSION, Variable, variables_of_spec
from storage.layout.skeleton import DIMS, DOCUMENT


@dataclass(frozen=True, eq=False)
class CubeHandle:
    """What is needed to read or write tiles, read once and used many times.

    Attributes
    ----------
    location : path or URL
        The cube.
    backend : Backend
        Reads and writes its files.
    document : bytes
        The root document, which changes when the cube is extended.
    group : zarr.Group
        Its arrays.
    spec : SweepSpec
        The sweep.
    grids : tuple of Grid
        The exponents of the first spec and of each extension; a tile's ``grid`` is an index.
    axes : Axes
        The coordinates.
    """

    location: CubeLocation
    backend: Backend = field(repr=False)
    document: bytes = field(repr=False)
    group: zarr.Group = field(repr=False)
    spec: SweepSpec = field(repr=False)
    grids: tuple[Grid, ...] = field(repr=False)
    axes: Axes = field(repr=False)
    _arrays: dict[str, zarr.Array[Any]] = field(default_factory=dict, init=False, repr=False)

    @property
    def id(self) -> str:
        """What distinguishes the cube from all others, wherever it is seen from."""
        return str(self.group.attrs["id"])

    def current(self) -> "CubeHandle":
        """Return a handle of the cube in its present state: this one, unless it was extended.

        Another process may extend a cube at any moment. An extension changes the root document, so
        that reading this one file is enough to notice it.
        """
        with storage_errors(f"read {DOCUMENT} of the cube {self.location}"):
            document = self.backend.read_many([DOCUMENT]).get(DOCUMENT)
        return self if document == self.document else open_handle(self.location)

    def array(self, name: str) -> zarr.Array[Any]:
        """Return one array, which is opened once."""
        if name not in self._arrays:
            self._arrays[name] = as_array(self.group, name)
        return self._arrays[name]

    def clusters(self, tile: Tile) -> int:
        """Return the number of clusters, k, of a tile's data set."""
        *_, clusters = self.spec.shape(tile.config)
        return clusters

    def index(self, tile: Tile) -> TileIndex:
        """Return the position of a tile."""
        return self.axes.index(tile)

    def results(self, config: str) -> tuple[Variable, ...]:
        """Return the variables that the sweep computes for a configuration."""
        labelled = config not in self.spec.unlabelled
        return tuple(
            variable
            for variable in variables_of_spec(self.spec).values()
            if variable.part in self.spec.all_parts and (labelled or not variable.needs_labels)
        )

    @property
    def kept(self) -> tuple[KeptVariable, ...]:
        """What the cube keeps of its runs, beside their scores."""
        return kept_variables(self.spec)

    def kept_array(self, config: str, variable: KeptVariable) -> zarr.Array[Any]:
        """Return the array of a configuration in which it keeps something of its runs."""
        return self.array(f"{kept_group(self.axes, config)}/{variable.name}")

    def positions(
        self, variable: Variable | KeptVariable, p1: Iterable[float], p2: Iterable[float]
    ) -> list[NDArray[np.intp]]:
        """Return the positions of cells in a tile, for each dimension of a variable."""
        labels = {"p1": p1, "p2": p2, "restart": self.axes.restart}
        return [self.axes.positions(dim, labels[dim]) for dim in variable.dims]


#: A cube's location; or its handle, which saves opening the cube again.
AnyCube = CubeLocation | CubeHandle


def as_handle(cube: AnyCube) -> CubeHandle:
    """Return a handle as it is, and open a location."""
    return cube if isinstance(cube, CubeHandle) else open_handle(cube)


def open_handle(location: CubeLocation) -> CubeHandle:
    """Open a cube and read what describes it.

    Parameters
    ----------
    location : path or URL
        An existing cube.

    Returns
    -------
    CubeHandle
        For reading and for writing.

    Raises
    ------
    CubeNotFoundError
        If there is no cube.
    DamagedCubeError
        If its metadata or coordinates are damaged.
    CubeError
        If it is another Zarr group, or a cube of another version.

    Examples
    --------
    >>> open_handle("not-yet-created.zarr")
    Traceback (most recent call last):
    storage.errors.CubeNotFoundError: There is no cube at not-yet-created.zarr. Create one with \
storage.create_cube, or on the command line with imwk submit SPEC CUBE.
    """
    backend = backend_at(location)
    with storage_errors(f"open the cube {location}"):
        # Read before the group: if the cube is extended in between, `current` notices it.
        document = backend.read_many([DOCUMENT]).get(DOCUMENT)
        if document is None:
            raise CubeNotFoundError(
                f"There is no cube at {location}. Create one with storage.create_cube, or on the "
                "command line with imwk submit SPEC CUBE."
            )
        store = backend.store(writable=True)
        group = zarr.open_group(store, mode="r+", zarr_format=3)  # does not look for version 2
    spec = _spec_of(location, group)
    with storage_errors(f"read the coordinates of the cube {location}"):
        grids, axes = _grids_of(group), _axes_of(group)
    if not axes.holds(spec):
        raise DamagedCubeError(
            f"The coordinates of {location} are not those of its spec. Restore the cube from a "
            "backup."
        )
    return CubeHandle(location, backend, document, group, spec, grids, axes)


def read_spec(location: CubeLocation) -> SweepSpec:
    """Return the spec of a cube, which may have been extended since its creation.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from storage import create_cube
    >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 2}})
    >>> with TemporaryDirectory() as folder:
    ...     create_cube(f"{folder}/cube.zarr", spec)
    ...     read_spec(f"{folder}/cube.zarr") == spec
    True
    """
    return open_handle(location).spec


def as_array(group: zarr.Group, name: str) -> zarr.Array[Any]:
    """Return an array of a group."""
    array = group[name]
    if not isinstance(array, zarr.Array):
        raise DamagedCubeError(
            f"{name} is not an array of the cube, which is damaged. Restore it from a backup."
        )
    return array


def _spec_of(location: CubeLocation, group: zarr.Group) -> SweepSpec:
    attributes = group.attrs.asdict()
    if attributes.get("schema") != SCHEMA_NAME:
        raise CubeError(
            f"{location} is a Zarr group, but not a cube of imwk-sweep. Choose another location."
        )
    version = attributes.get("schema_version")
    if version != SCHEMA_VERSION:
        raise CubeError(
            f"{location} has version {version} of the cube's schema, this imwk-sweep reads "
            f"version {SCHEMA_VERSION}. Install the imwk-sweep that created it."
        )
    try:
        return SweepSpec.from_stored(attributes["spec"])
    except (KeyError, SpecError) as error:
        raise CubeError(f"The spec in the cube {location} cannot be used: {error}") from error


def _grids_of(group: zarr.Group) -> tuple[Grid, ...]:
    listed: Any = group.attrs["grids"]
    return tuple(Grid(tuple(grid["p1"]), tuple(grid["p2"])) for grid in listed)


def _axes_of(group: zarr.Group) -> Axes:
    return Axes(*(tuple(np.asarray(as_array(group, dim)[:]).tolist()) for dim in DIMS))
