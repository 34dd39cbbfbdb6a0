"""Tests of `workflows.pairs`."""
