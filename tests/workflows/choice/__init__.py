"""Tests of `workflows.choice`."""
