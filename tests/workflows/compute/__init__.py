"""Tests of `workflows.compute`, with real schedulers, batch systems and object stores."""
