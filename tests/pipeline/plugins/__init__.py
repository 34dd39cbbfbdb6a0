"""Tests of `pipeline.plugins`."""
