"""Tests of pipeline.core.lanes."""
