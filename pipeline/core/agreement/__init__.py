"""Scores that compare labellings with known classes, of many labellings at once."""

from pipeline.core.agreement.mutual_information import adjusted_mutual_info, normalised_mutual_info
from pipeline.core.agreement.noise import NO_CLASS, agreement_with
from pipeline.core.agreement.rand import adjusted_rand_index

__all__ = [
    "NO_CLASS",
    "adjusted_mutual_info",
    "adjusted_rand_index",
    "agreement_with",
    "normalised_mutual_info",
]
