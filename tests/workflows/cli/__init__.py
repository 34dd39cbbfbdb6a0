"""Tests of `workflows.cli`."""
