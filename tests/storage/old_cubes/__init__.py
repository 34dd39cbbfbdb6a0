"""Cubes written by earlier versions."""
