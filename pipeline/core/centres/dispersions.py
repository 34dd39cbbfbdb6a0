"""Dispersions: sums of p-th powers of differences, of all groups at once."""

import numpy as np

from pipeline.core.minkowski import powers, spread_exponents
from pipeline.core.segments import Groups, Segments
from pipeline.core.types import Float64Array, FloatArray


def group_dispersions(groups: Groups, centres: FloatArray, p: Float64Array) -> FloatArray:
    """Return the sum over each group of ``|x - centre| ** p``, of shape (m, groups)."""
    exponents = np.tile(p, len(centres))
    return segment_dispersions(groups.segments, centres.ravel(), exponents).reshape(centres.shape)


def segment_dispersions(segments: Segments, centres: FloatArray, p: Float64Array) -> FloatArray:
    """Return the sum over each segment of ``|x - centre| ** p``, of shape (segments,)."""
    found = np.empty_like(centres)
    for some, batch in segments.batches:
        terms = batch.spread(centres[some])
        terms -= batch.values
        exponents = spread_exponents(p[some], batch.counts, terms.dtype)
        found[some] = batch.sums(powers(terms, exponents, out=terms))
    return found
