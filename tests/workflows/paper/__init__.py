"""Tests of `workflows.paper`."""
