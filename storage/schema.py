"""What a cube holds: dimensions, variables, their types, chunks and fill values."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Raised when a cube of before cannot be read any more; newer cubes are refused.
SCHEMA_VERSION = 1
#: In the attributes of every cube, so that no other Zarr group is taken for one.
SCHEMA_NAME = "imwk-sweep cube"

#: Together they name a tile, which is a chunk of its own in every variable.
TILE_DIMS = ("config", "dataset", "normalisation")

#: Chunks of exponents are larger than the paper's 40, so that a cube extended by some has no more
#: files than before; the empty rest of a chunk is compressed away.
EXPONENT_CHUNK = 64
#: Coordinates are one chunk as long as they are no longer than this.
COORDINATE_CHUNK = 1024

#: What rounding may add to an adjusted Rand index of 1.
ARI_SLACK = 1e-9


class Status(IntEnum):
    """What the cube knows of a tile; the only truth about its completion."""

    MISSING = 0
    DONE = 1
    FAILED = 2
    NOT_PART = 3


@dataclass(frozen=True)
class Variable:
    """One array of the cube.

    Attributes
    ----------
    name : str
        In the cube.
    dims : tuple of str
        Its dimensions after those of the tile.
    dtype : str
        As NumPy names it; ``str`` for text of any length.
    fill : object
        What reads where nothing was written.
    about : str
        One line for its attributes.
    part : str or None
        The part of a sweep that computes it; None if it is about the tile.
    """

    name: str
    dims: tuple[str, ...]
    dtype: str
    fill: Any
    about: str
    part: str | None = None

    @property
    def is_count(self) -> bool:
        """Counts are at least 1; 0 marks a cell without result, and reads as NaN in xarray."""
        return self.part is not None and self.dtype.startswith("uint")

    @property
    def needs_labels(self) -> bool:
        """An index of agreement is with known classes."""
        return self.name.endswith("_ari")

    def problem(self, values: NDArray[Any], clusters: int) -> str | None:
        """Say what is wrong with results, or return None.

        Examples
        --------
        >>> RESULTS["imwk_ari"].problem(np.array([0.5, 1.5]), clusters=3)
        'imwk_ari has 1.5, outside -1 to 1'
        >>> RESULTS["imwk_clusters"].problem(np.array([3, 3]), clusters=3) is None
        True
        """
        absent = int((~np.isfinite(values)).sum())
        if absent:
            return f"{self.name} lacks {absent} of {values.size} values"
        low, high = self.bounds(clusters)
        outside = values[(values < low - ARI_SLACK) | (values > high + ARI_SLACK)]
        return f"{self.name} has {outside[0]}, outside {low} to {high}" if len(outside) else None

    def bounds(self, clusters: int) -> tuple[int, int]:
        """Return the least and the largest value that a result may have."""
        if not self.is_count:
            return -1, 1
        return 1, clusters if self.name.endswith("_clusters") else np.iinfo(self.dtype).max


def _result(name: str, dims: tuple[str, ...], part: str, about: str) -> Variable:
    # xarray reads counts with gaps as floats: of 16 bits as float32, whose sums are not exact
    dtype, fill = ("float64", np.nan) if name.endswith("_ari") else ("uint32", 0)
    return Variable(name, dims, dtype, fill, about, part)


_ARI = "Adjusted Rand index of"
_ROUNDS = "Rounds of the main loop of"
_CLUSTERS = "Clusters that are not empty, of k asked for, by"
_RESCALED = "imwk-means at p2 on data rescaled at p1"

#: What a sweep computes.
RESULTS = {
    variable.name: variable
    for variable in (
        _result("kmeans_ari", ("restart",), "kmeans", f"{_ARI} k-means++"),
        _result("imwk_ari", ("p1",), "imwk", f"{_ARI} imwk-means at p1"),
        _result("imwk_iterations", ("p1",), "imwk", f"{_ROUNDS} imwk-means at p1"),
        _result("imwk_clusters", ("p1",), "imwk", f"{_CLUSTERS} imwk-means at p1"),
        _result(
            "rescaled_kmeans_ari",
            ("p1", "restart"),
            "rescaled_kmeans",
            f"{_ARI} k-means++ on data rescaled at p1",
        ),
        _result("rescaled_imwk_ari", ("p1", "p2"), "rescaled_imwk", f"{_ARI} {_RESCALED}"),
        _result(
            "rescaled_imwk_iterations", ("p1", "p2"), "rescaled_imwk", f"{_ROUNDS} {_RESCALED}"
        ),
        _result(
            "rescaled_imwk_clusters", ("p1", "p2"), "rescaled_imwk", f"{_CLUSTERS} {_RESCALED}"
        ),
    )
}

_STATUS = ", ".join(f"{status.value} {status.name.lower().replace('_', ' ')}" for status in Status)

#: What the cube knows of each tile.
ABOUT_TILES = {
    variable.name: variable
    for variable in (
        Variable("status", (), "int8", 0, f"{_STATUS}; written last"),
        Variable("grid", (), "int16", -1, "Which of the attribute `grids` the tile is whole for"),
        Variable("tile_seconds", (), "float64", np.nan, "CPU seconds that the tile took"),
        Variable("error", (), "str", "", "Why the tile failed"),
    )
}

VARIABLES = {**RESULTS, **ABOUT_TILES}
