"""Tests of `workflows.report`."""
