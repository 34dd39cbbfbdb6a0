"""Scores that need no true classes, of many labellings at once."""

from pipeline.core.scores.info import InfoScores, info_score
from pipeline.core.scores.silhouettes import Silhouettes, silhouette
from pipeline.core.scores.spreads import calinski_harabasz, davies_bouldin

__all__ = [
    "InfoScores",
    "Silhouettes",
    "calinski_harabasz",
    "davies_bouldin",
    "info_score",
    "silhouette",
]
