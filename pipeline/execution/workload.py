"""The amount of work in a sweep: cells of results, runs of the algorithms, bytes."""

from dataclasses import dataclass

import numpy as np

from pipeline.execution.keeping import WEIGHT_TYPE, label_type
from pipeline.spec import RESTARTED, SweepSpec
from pipeline.spec.blocks import Block

#: Bytes of one cell of a part in the cube: an ARI, and two counts for imwk-means.
CELL_BYTES = {"kmeans": 8, "imwk": 16, "rescaled_kmeans": 8, "rescaled_imwk": 16}
#: Bytes of each score that needs no classes.
SCORE_BYTES = 8


@dataclass(frozen=True)
class RunCost:
    """CPU seconds on the data of one configuration, as measured by pilots.

    Attributes
    ----------
    imwk, rescaled_imwk, kmeans : float
        A run of imwk-means on the original and on rescaled data, and a restart of k-means++, all
        with the scores of their labellings.
    block : float
        The preparation of the data of a block.
    """

    imwk: float
    rescaled_imwk: float
    kmeans: float
    block: float = 0.0


@dataclass(frozen=True)
class Workload:
    """The number of runs in a block, as in `RunCost`."""

    imwk: int
    rescaled_imwk: int
    kmeans: int

    @classmethod
    def of(cls, spec: SweepSpec, block: Block) -> "Workload":
        """Count the runs of a block.

        Examples
        --------
        >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
        >>> Workload.of(spec, Block(spec.tiles[0], ("rescaled_imwk",), (1.5, 2.0), (3.0,)))
        Workload(imwk=2, rescaled_imwk=2, kmeans=0)
        """
        cells = _cells(block.parts, len(block.p1), len(block.p2), spec.restarts)
        # Rescaling needs imwk-means on the original data, whether its results are stored or not.
        first = 0 if set(block.parts) == {"kmeans"} else len(block.p1)
        restarts = sum(cells.get(part, 0) for part in RESTARTED)
        return cls(first, cells.get("rescaled_imwk", 0), restarts)

    def seconds(self, cost: RunCost) -> float:
        """Return the CPU seconds of the block at a given cost."""
        runs = (
            self.imwk * cost.imwk
            + self.rescaled_imwk * cost.rescaled_imwk
            + self.kmeans * cost.kmeans
        )
        return cost.block + runs


def tile_bytes(spec: SweepSpec) -> int:
    """Return the size of the results of one tile, uncompressed.

    Examples
    --------
    >>> tile_bytes(SweepSpec(datasets={"synthetic": {"configs": "all", "count": 1}}))
    59040
    """
    cells = _cells(spec.parts, len(spec.p1), len(spec.p2), spec.restarts)
    scores = SCORE_BYTES * len(spec.scores)
    return sum((CELL_BYTES[part] + scores) * count for part, count in cells.items())


def kept_bytes(spec: SweepSpec, config: str) -> int:
    """Return the size of the labels and weights that are kept of one tile, uncompressed.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> kept_bytes(SweepSpec(datasets=data, keep=["labels", "weights"]), "1000x6-3")
    1759080
    """
    rows, features, k = spec.shape(config)
    cells = _cells(spec.parts, len(spec.p1), len(spec.p2), spec.restarts)
    runs = cells.get("imwk", 0) + cells.get("rescaled_imwk", 0)
    labellings = runs + ("kmeans" in spec.parts)
    labels = labellings * rows * label_type(k).itemsize
    weights = runs * k * features * np.dtype(WEIGHT_TYPE).itemsize
    return ("labels" in spec.keep) * labels + ("weights" in spec.keep) * weights


def _cells(parts: tuple[str, ...], p1: int, p2: int, restarts: int) -> dict[str, int]:
    every = {
        "kmeans": restarts,
        "imwk": p1,
        "rescaled_kmeans": p1 * restarts,
        "rescaled_imwk": p1 * p2,
    }
    return {part: every[part] for part in parts}
