"""Tests of pipeline.core.centres."""
