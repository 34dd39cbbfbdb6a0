"""Pictures of results: heatmaps over the exponents, and data before and after rescaling."""

from pipeline.errors import requires_extra

with requires_extra("plots", "Drawing needs Matplotlib"):
    import matplotlib  # noqa: F401 - fails here, in words, if it is not installed
