"""Figures for files: heatmaps and features of a cube, scatter plots of a data set."""

from pipeline.errors import requires_extra

with requires_extra("plots", "Drawing needs Matplotlib"):
    import matplotlib  # noqa: F401 - fails here, in words, if it is not installed
