"""Tests of `workflows.plots`."""
