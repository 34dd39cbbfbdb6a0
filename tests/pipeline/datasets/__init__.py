"""Tests of `pipeline.datasets`."""
