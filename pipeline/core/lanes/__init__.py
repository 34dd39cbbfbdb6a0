"""Runs of imwk-means that advance together: one lane for each (data set, exponent)."""

from pipeline.core.lanes.main_loop import run_main_loop
from pipeline.core.lanes.patterns import anomalous_patterns
from pipeline.core.lanes.result import ImwkResult

__all__ = ["ImwkResult", "anomalous_patterns", "run_main_loop"]
