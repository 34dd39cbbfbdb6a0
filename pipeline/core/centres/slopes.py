"""The slope of the summed powers at trial centres, with what a search needs to find its root."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from pipeline.core.minkowski import powers, spread_exponents
from pipeline.core.segments import Segments
from pipeline.core.types import Float64Array, FloatArray, IntArray


class Trial(NamedTuple):
    """Sums over each segment at its trial centre, of shape (segments,) each.

    Attributes
    ----------
    slope, curvature
        First and second derivative of the dispersion with respect to the centre, over p.
    dispersions
        Summed p-th powers of the differences.
    left, right
        Distances to the nearest data values on both sides. Empty above p = 2, where no search
        needs them.
    """

    slope: FloatArray
    curvature: FloatArray
    dispersions: FloatArray
    left: FloatArray
    right: FloatArray


#: Adds up segments, given their differences from the trial centres, which it may overwrite.
_AddUp = Callable[[Segments, FloatArray, Float64Array], Trial]


def slopes_above_2(segments: Segments, at: FloatArray, p: Float64Array) -> Trial:
    """Evaluate all segments at trial centres, for exponents above 2."""
    return _in_batches(_add_up_above_2, segments, at, p)


def slopes_below_2(segments: Segments, at: FloatArray, p: Float64Array) -> Trial:
    """Evaluate all segments at trial centres, for exponents below 2."""
    return _in_batches(_add_up_below_2, segments, at, p)


def _in_batches(add_up: _AddUp, segments: Segments, at: FloatArray, p: Float64Array) -> Trial:
    parts = []
    for some, batch in segments.batches:
        differences = batch.spread(at[some])
        differences -= batch.values
        parts.append(add_up(batch, differences, p[some]))
    if len(parts) == 1:
        return parts[0]
    return Trial(*map(np.concatenate, zip(*parts, strict=True)))


def _add_up_above_2(batch: Segments, differences: FloatArray, p: Float64Array) -> Trial:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p - 2, batch.counts, terms.dtype), out=terms)
    curvature = batch.sums(terms)
    np.multiply(curvature, p - 1, out=curvature, casting="same_kind")
    terms *= differences
    slope = batch.sums(terms)
    terms *= differences
    nothing = np.empty(0, dtype=terms.dtype)
    return Trial(slope, curvature, batch.sums(terms), nothing, nothing)


def _add_up_below_2(batch: Segments, differences: FloatArray, p: Float64Array) -> Trial:
    terms = np.empty_like(differences)
    powers(differences, spread_exponents(p, batch.counts, terms.dtype), out=terms)
    dispersions = batch.sums(terms)
    differences += np.finfo(differences.dtype).tiny  # changes zeros only, which have no inverse
    inverse = np.reciprocal(differences, out=differences)
    terms *= inverse
    slope = batch.sums(terms)
    terms *= inverse
    curvature = batch.sums(terms)
    np.multiply(curvature, p - 1, out=curvature, casting="same_kind")
    return Trial(slope, curvature, dispersions, *_neighbours(inverse, batch.starts))


def _neighbours(inverse: FloatArray, starts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the smallest positive and the smallest negative difference, both as distances.

    Takes inverse differences. A constant feature has none of one sign: the distance is 1 there.
    """
    above, below = np.maximum.reduceat(inverse, starts), -np.minimum.reduceat(inverse, starts)
    return 1 / np.where(above > 0, above, 1.0), 1 / np.where(below > 0, below, 1.0)
