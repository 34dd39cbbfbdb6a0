"""Which entities belong to the growing patterns: those nearer to the pattern than to the centre.

Both distances use the pattern's own weights. In a run in float64 they are estimated in float32
first, and only comparisons that stay open are made in float64.
"""

import numpy as np

from pipeline.core.lanes.estimates import open_margins, rough_exponents
from pipeline.core.lanes.pattern_state import Members, PatternEntities, PatternLanes
from pipeline.core.minkowski import power, weighted_powers, weighted_sum
from pipeline.core.segments import batches_of
from pipeline.core.types import BoolArray, Float32Array, Float64Array, IntArray


def find_members(lanes: PatternLanes, entities: PatternEntities) -> Members:
    """Return the entities left that are nearer to their lane's pattern than to its centre.

    Where a lane has none, its member is the seed.
    """
    nearer = _nearer(lanes, entities)
    columns = np.flatnonzero(nearer)
    sizes = lanes.count(columns)
    if not sizes.all():
        nearer[lanes.seeds[sizes == 0]] = True
        columns = np.flatnonzero(nearer)
    return Members(columns, np.maximum(sizes, 1))


def _nearer(lanes: PatternLanes, entities: PatternEntities) -> BoolArray:
    if entities.in_float32:
        return _nearer_in_float32(lanes, entities) & entities.left
    nearer, open_ = np.empty((2, len(entities.left)), dtype=np.bool_)
    for some, columns in batches_of(lanes.counts):
        nearer[columns], open_[columns] = _estimate(lanes, entities, some, columns)
    nearer &= entities.left
    undecided = np.flatnonzero(open_ & entities.left)
    if len(undecided):
        nearer[undecided] = _decide(lanes, entities, undecided)
    return nearer


def _nearer_in_float32(lanes: PatternLanes, entities: PatternEntities) -> BoolArray:
    """Compare all distances of a run in float32, feature by feature."""
    nearer = np.empty(len(entities.left), dtype=np.bool_)
    for some, columns in batches_of(lanes.counts):
        z, w = _patterns_in_float32(lanes, some)
        p, counts, to_centre = lanes.p[some], lanes.counts[some], entities.to_centre[:, columns]
        lag = weighted_powers(entities.estimates, columns, z, w, p, counts, minus=to_centre)
        nearer[columns] = lag < 0
    return nearer


def _estimate(
    lanes: PatternLanes, entities: PatternEntities, some: slice, columns: slice
) -> tuple[BoolArray, BoolArray]:
    """Return which entities of some lanes are certainly nearer, and for which it stays open."""
    z, w = _patterns_in_float32(lanes, some)
    p, counts = lanes.p[some], lanes.counts[some]
    to_pattern = weighted_powers(entities.estimates, columns, z, w, rough_exponents(p), counts)
    to_centre = weighted_sum(entities.to_centre, columns, w, counts)
    relative, absolute = (np.repeat(margin, counts) for margin in open_margins(p, w))
    lead = to_centre - to_pattern
    clear = np.abs(lead) > relative * (to_centre + to_pattern) + absolute
    return clear & (lead > 0), ~clear


def _patterns_in_float32(lanes: PatternLanes, some: slice) -> tuple[Float32Array, Float32Array]:
    """Return centroids, in units of the scale, and p-th powers of weights; both (m, lanes)."""
    centroids: Float64Array = lanes.centroids[:, some] / lanes.scale[some]
    weights_to_p = power(lanes.weights[:, some], lanes.p[some])
    return centroids.astype(np.float32), weights_to_p.astype(np.float32)


def _decide(lanes: PatternLanes, entities: PatternEntities, columns: IntArray) -> BoolArray:
    """Return which of these entities are nearer, in float64."""
    counts = lanes.count(columns)
    some = np.flatnonzero(counts)
    p, counts = lanes.p[some], counts[some]
    weights_to_p = power(lanes.weights[:, some], p)
    to_pattern, to_centre = (
        weighted_powers(entities.values, columns, points[:, some], weights_to_p, p, counts)
        for points in (lanes.centroids, lanes.centres)
    )
    return np.asarray(to_pattern < to_centre)
