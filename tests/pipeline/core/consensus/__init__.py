"""Tests of what many labellings have in common."""
