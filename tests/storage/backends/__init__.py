"""Tests of the backends: a folder and object stores."""
