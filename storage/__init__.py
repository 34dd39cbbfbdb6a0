"""Where results live: the Zarr-backed cube (step 3 of the plan in CHANGELOG)."""
