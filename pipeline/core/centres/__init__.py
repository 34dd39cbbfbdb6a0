"""Minkowski centres: per feature, the value with the smallest sum of p-th powers of differences.

All functions work on many groups of entities at once, each group with an exponent of its own. A
centre comes with its dispersions, which the last evaluation of a search has found anyway.
See `dispatch` for which exponent and precision lead to which way of finding the centre.
"""

from pipeline.core.centres.dispersions import group_dispersions
from pipeline.core.centres.methods import CENTRES, centre_method, minkowski_centre
from pipeline.core.centres.turnover import Turnover, likely_starts
from pipeline.core.centres.types import CentreMethod, Centres, Minima, Starts

__all__ = [
    "CENTRES",
    "CentreMethod",
    "Centres",
    "Minima",
    "Starts",
    "Turnover",
    "centre_method",
    "group_dispersions",
    "likely_starts",
    "minkowski_centre",
]
