"""Figures for files: heatmaps of a cube, and scatter plots of a data set."""
