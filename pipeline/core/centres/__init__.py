"""Minkowski centres: per feature, the value with the least sum of p-th powers of differences."""

from pipeline.core.centres.methods import (
    CENTRES,
    centre_method,
    group_dispersions,
    minkowski_centre,
)

__all__ = ["CENTRES", "centre_method", "group_dispersions", "minkowski_centre"]
