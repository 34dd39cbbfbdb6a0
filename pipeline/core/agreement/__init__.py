"""Scores that compare labellings with known classes, of many labellings at once."""

from pipeline.core.agreement.rand import adjusted_rand_index

__all__ = ["adjusted_rand_index"]
