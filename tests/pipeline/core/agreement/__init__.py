"""Tests of the scores that compare labellings with classes."""
