"""Sweeps on clusters and object stores, with real servers."""
