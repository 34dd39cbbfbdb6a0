"""Tests of specs, plans and blocks."""
