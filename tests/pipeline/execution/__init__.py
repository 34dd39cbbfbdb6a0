"""Tests of `pipeline.execution`."""
