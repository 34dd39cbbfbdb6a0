"""What a cube keeps of its runs beside their scores: labels and feature weights.

Configurations differ in their numbers of rows, clusters and features. So each has a group of its
own, with arrays that have the tile dimensions of the cube except the configuration.
"""

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
import zarr
from numpy.typing import NDArray
from zarr.abc.codec import BytesBytesCodec
from zarr.codecs import BloscCodec, Crc32cCodec, ZstdCodec

from pipeline.execution.keeping import WEIGHT_TYPE, label_type
from pipeline.spec import SweepSpec
from storage.layout.axes import Axes
from storage.layout.schema import EXPONENT_CHUNK, TILE_DIMS

#: The group of all kept results. Those of a configuration are in a group in it, whose name is the
#: number of the configuration in the order in which the cube stores them.
GROUP = "kept"

#: A chunk has the runs of as many exponents as fit into these bytes before it is compressed.
CHUNK_BYTES = 2**22
#: Rows in a chunk. With `EXPONENT_CHUNK` labels of one byte each, they fill it.
CHUNK_ROWS = 2**16
#: Neighbouring exponents give similar labels. From this level on, zstd finds what they share.
LABEL_LEVEL = 9

#: Rounding may increase a weight by this much.
SLACK = 1.6e-5


@dataclass(frozen=True)
class Sizes:
    """What determines the arrays of a configuration.

    Attributes
    ----------
    rows, features, clusters : int
        Of its data sets.
    restarts : int
        Of k-means++.
    """

    rows: int
    features: int
    clusters: int
    restarts: int

    @classmethod
    def of(cls, spec: SweepSpec, config: str) -> "Sizes":
        """Return the sizes of a configuration."""
        return cls(*spec.shape(config), spec.restarts)

    def length(self, dim: str) -> int:
        """Return the length of a dimension of single labels or weights."""
        return {"row": self.rows, "cluster": self.clusters, "feature": self.features}[dim]


@dataclass(frozen=True)
class KeptVariable:
    """One array in the group of a configuration.

    Attributes
    ----------
    part : str
        The part of a sweep whose runs it describes.
    what : str
        The end of its name.
    keep : str
        The kind of result, as the key ``keep`` of a spec names it.
    dims : tuple of str
        The exponents of the runs.
    inner : tuple of str
        The dimensions of what is kept of a single run.
    about : str
        One line for its attributes.
    """

    part: str
    what: str
    keep: str
    dims: tuple[str, ...]
    inner: tuple[str, ...]
    about: str

    @property
    def name(self) -> str:
        """Its name in the group, and in the results of a block."""
        return f"{self.part}_{self.what}"

    def dtype(self, sizes: Sizes) -> np.dtype[Any]:
        """Return its type."""
        if self.what == "labels":
            return label_type(sizes.clusters)
        types = {"weights": WEIGHT_TYPE, "inertia": np.float64, "restart": np.int32}
        return np.dtype(types.get(self.what, np.int8))

    def fill(self, sizes: Sizes) -> Any:
        """Return the value of cells that were never written; no result has it."""
        dtype = self.dtype(sizes)
        if dtype.kind == "f":
            return np.nan
        return np.iinfo(dtype).max if dtype.kind == "u" else -1

    def problem(self, values: NDArray[Any], sizes: Sizes) -> str | None:
        """Return what is wrong with results, or None.

        Examples
        --------
        >>> sizes = Sizes(rows=4, features=2, clusters=3, restarts=5)
        >>> labels = np.array([[0, 2, 3, 1], [0, 255, 255, 1]], dtype=np.uint8)
        >>> KEPT_RESULTS["imwk_labels"].problem(labels, sizes)
        'imwk_labels lacks 2 of 8 values'
        >>> KEPT_RESULTS["imwk_labels"].problem(labels[:1], sizes)
        'imwk_labels has 3, outside 0 to 2'
        """
        absent = self._absent(values, sizes)
        if absent.any():
            return f"{self.name} lacks {absent.sum()} of {absent.size} values"
        high = self._highest(sizes)
        outside = values[(values < 0) | (values > high + SLACK)]  # no comparison with NaN is true
        return f"{self.name} has {outside[0]}, outside 0 to {high}" if len(outside) else None

    def _absent(self, values: NDArray[Any], sizes: Sizes) -> NDArray[np.bool_]:
        if self.what != "weights":
            missing = np.isnan(values) if values.dtype.kind == "f" else values == self.fill(sizes)
            return np.asarray(missing)
        # A cluster that was not formed has no weights. The first one is always formed.
        lost = np.isnan(values)
        not_formed = lost.all(axis=-1, keepdims=True)
        not_formed[..., 0, :] = False
        return np.asarray(lost & ~not_formed)

    def _highest(self, sizes: Sizes) -> float:
        highest = {
            "labels": sizes.clusters - 1,
            "restart": sizes.restarts - 1,
            "inertia": np.inf,
        }
        return highest.get(self.what, 1)


def _of_imwk(part: str, dims: tuple[str, ...], runs: str) -> tuple[KeptVariable, ...]:
    return (
        KeptVariable(part, "labels", "labels", dims, ("row",), f"Cluster of every row by {runs}"),
        KeptVariable(
            part, "converged", "labels", dims, (), f"1 if the labels are a fixed point of {runs}"
        ),
        KeptVariable(
            part,
            "weights",
            "weights",
            dims,
            ("cluster", "feature"),
            f"Feature weights of every cluster by {runs}; NaN for clusters that were not formed",
        ),
    )


_BEST = "the k-means++ restart of least inertia"

#: All results that can be kept, by name.
KEPT_RESULTS = {
    variable.name: variable
    for variable in (
        KeptVariable(
            "kmeans", "labels", "labels", (), ("row",), f"Cluster of every row by {_BEST}"
        ),
        KeptVariable("kmeans", "restart", "labels", (), (), f"The number of {_BEST}"),
        KeptVariable("kmeans", "inertia", "labels", (), (), f"The inertia of {_BEST}"),
        *_of_imwk("imwk", ("p1",), "imwk-means at p1"),
        *_of_imwk("rescaled_imwk", ("p1", "p2"), "imwk-means at p2 on data rescaled at p1"),
    )
}


def kept_variables(spec: SweepSpec) -> tuple[KeptVariable, ...]:
    """Return what the runs of a sweep leave in its cube beside their scores.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> spec = SweepSpec(datasets=data, parts=["kmeans", "imwk"], keep=["labels"])
    >>> [variable.name for variable in kept_variables(spec)]
    ['kmeans_labels', 'kmeans_restart', 'kmeans_inertia', 'imwk_labels', 'imwk_converged']
    """
    return tuple(
        variable
        for variable in KEPT_RESULTS.values()
        if variable.part in spec.parts and variable.keep in spec.keep
    )


def kept_group(axes: Axes, config: str) -> str:
    """Return the path of the group of a configuration."""
    return f"{GROUP}/{axes.config.index(config)}"


def add_kept_groups(root: zarr.Group, spec: SweepSpec, axes: Axes) -> None:
    """Add the groups of all configurations to a cube without results."""
    kept = kept_variables(spec)
    if not kept:
        return
    root.create_group(GROUP)
    for config in axes.config:
        group = root.create_group(kept_group(axes, config), attributes={"config": config})
        for variable in kept:
            _add_array(group, variable, Sizes.of(spec, config), axes)


def _add_array(group: zarr.Group, variable: KeptVariable, sizes: Sizes, axes: Axes) -> None:
    tile_dims = TILE_DIMS[1:]
    inner = tuple(map(sizes.length, variable.inner))
    dtype = variable.dtype(sizes)
    group.create_array(
        variable.name,
        shape=(*(axes.length(dim) for dim in (*tile_dims, *variable.dims)), *inner),
        chunks=(1,) * len(tile_dims) + _chunk(len(variable.dims), inner, dtype.itemsize),
        dtype=dtype,
        fill_value=variable.fill(sizes),
        compressors=_compressors(variable),
        chunk_key_encoding={"name": "default", "separator": "."},
        dimension_names=(*tile_dims, *variable.dims, *variable.inner),
        attributes={"long_name": variable.about},
    )


def _compressors(variable: KeptVariable) -> list[BytesBytesCodec]:
    if variable.what == "weights":
        # Most of a weight's bits are random. Shuffling gathers the others, which can be compressed.
        return [BloscCodec(cname="zstd", clevel=5, shuffle="shuffle"), Crc32cCodec()]
    if not (variable.dims or variable.inner):
        return [Crc32cCodec()]
    return [ZstdCodec(level=LABEL_LEVEL), Crc32cCodec()]


def _chunk(exponents: int, inner: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the lengths of a chunk in the dimensions of exponents, and in the inner ones.

    Examples
    --------
    >>> _chunk(2, (1000,), 1), _chunk(2, (100_000,), 1), _chunk(1, (5, 20), 4)
    ((64, 64, 1000), (1, 64, 65536), (64, 5, 20))
    """
    lengths = tuple(min(length, CHUNK_ROWS) for length in inner)
    for _ in range(exponents):
        room = CHUNK_BYTES // (prod(lengths) * itemsize)
        lengths = (max(1, min(EXPONENT_CHUNK, room)), *lengths)
    return lengths
