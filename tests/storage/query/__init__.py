"""Tests of queries to an open cube."""
