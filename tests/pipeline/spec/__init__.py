"""Tests of `pipeline.spec`."""
