"""The amount of work in a sweep: cells of results, runs of the algorithms, bytes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from pipeline.execution.keeping import WEIGHT_TYPE, label_type
from pipeline.spec import RESTARTED, SweepSpec
from pipeline.spec.blocks import Block
from pipeline.spec.plugins import clusterer_parts, has_p1, random_clusterers

#: Bytes of one cell of a part in the cube: an ARI, and two counts for imwk-means. Those of a
#: clusterer are an ARI.
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
    clusterers : mapping of str to float
        A run of each clusterer.
    """

    imwk: float
    rescaled_imwk: float
    kmeans: float
    block: float = 0.0
    clusterers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Workload:
    """The number of runs in a block, as in `RunCost`."""

    imwk: int
    rescaled_imwk: int
    kmeans: int
    clusterers: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, spec: SweepSpec, block: Block) -> "Workload":
        """Count the runs of a block.

        Examples
        --------
        >>> spec = SweepSpec(datasets={"synthetic": {"configs": ["1000x6-3"], "count": 1}})
        >>> Workload.of(spec, Block(spec.tiles[0], ("rescaled_imwk",), (1.5, 2.0), (3.0,)))
        Workload(imwk=2, rescaled_imwk=2, kmeans=0, clusterers={})
        """
        cells = _cells(spec, block.parts, len(block.p1), len(block.p2))
        # Rescaling needs imwk-means on the original data, whether its results are stored or not.
        first = len(block.p1) if any(map(has_p1, block.parts)) else 0
        restarts = sum(cells.get(part, 0) for part in RESTARTED)
        clusterers = {
            name: sum(cells.get(part, 0) for part in clusterer_parts([name]))
            for name in spec.clusterers
        }
        return cls(first, cells.get("rescaled_imwk", 0), restarts, clusterers)

    def seconds(self, cost: RunCost) -> float:
        """Return the CPU seconds of the block at a given cost."""
        runs = (
            self.imwk * cost.imwk
            + self.rescaled_imwk * cost.rescaled_imwk
            + self.kmeans * cost.kmeans
            + sum(count * cost.clusterers[name] for name, count in self.clusterers.items())
        )
        return cost.block + runs


def tile_bytes(spec: SweepSpec) -> int:
    """Return the size of the results of one tile, uncompressed.

    Examples
    --------
    >>> tile_bytes(SweepSpec(datasets={"synthetic": {"configs": "all", "count": 1}}))
    59040
    """
    cells = _cells(spec, spec.all_parts, len(spec.p1), len(spec.p2))
    scores = SCORE_BYTES * len(spec.scores)
    return sum(
        (CELL_BYTES.get(part, SCORE_BYTES) + scores) * count for part, count in cells.items()
    )


def kept_bytes(spec: SweepSpec, config: str) -> int:
    """Return the size of the labels and weights that are kept of one tile, uncompressed.

    Examples
    --------
    >>> data = {"synthetic": {"configs": ["1000x6-3"], "count": 1}}
    >>> kept_bytes(SweepSpec(datasets=data, keep=["labels", "weights"]), "1000x6-3")
    1759080
    """
    rows, features, k = spec.shape(config)
    cells = _cells(spec, spec.parts, len(spec.p1), len(spec.p2))
    runs = cells.get("imwk", 0) + cells.get("rescaled_imwk", 0)
    labellings = runs + ("kmeans" in spec.parts)
    labels = labellings * rows * label_type(k).itemsize
    weights = runs * k * features * np.dtype(WEIGHT_TYPE).itemsize
    return ("labels" in spec.keep) * labels + ("weights" in spec.keep) * weights


def _cells(spec: SweepSpec, parts: Iterable[str], p1: int, p2: int) -> dict[str, int]:
    restarts = spec.restarts
    every = {
        "kmeans": restarts,
        "imwk": p1,
        "rescaled_kmeans": p1 * restarts,
        "rescaled_imwk": p1 * p2,
    }
    for name, random in random_clusterers(spec.clusterers, spec.plugins).items():
        original, rescaled = clusterer_parts([name])
        runs = restarts if random else 1
        every |= {original: runs, rescaled: p1 * runs}
    return {part: every[part] for part in parts}
