"""Tests of pipeline.datasets."""
