"""Runs of imwk-means that advance together: one lane for each (data set, exponent)."""
