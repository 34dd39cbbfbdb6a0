"""Scores that need no true classes, of many labellings at once."""

from pipeline.core.scores.silhouettes import Silhouettes, silhouette
from pipeline.core.scores.spreads import calinski_harabasz, davies_bouldin

__all__ = ["Silhouettes", "calinski_harabasz", "davies_bouldin", "silhouette"]
