"""Compare two algorithms, or two sweeps, in pairs over data sets."""
