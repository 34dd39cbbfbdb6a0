"""Pictures of results: heatmaps over the exponents, and data before and after rescaling."""
