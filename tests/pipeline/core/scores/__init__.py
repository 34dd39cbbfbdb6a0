"""Tests of the scores that need no classes."""
