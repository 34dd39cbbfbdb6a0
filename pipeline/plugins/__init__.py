"""Plug-ins: normalisations, clusterers, scores and generators of other packages, by name."""

from pipeline.plugins.calls import normalised
from pipeline.plugins.kinds import Clusterer, Score
from pipeline.plugins.registry import (
    register_clusterer,
    register_generator,
    register_normalisation,
    register_score,
)

__all__ = [
    "Clusterer",
    "Score",
    "normalised",
    "register_clusterer",
    "register_generator",
    "register_normalisation",
    "register_score",
]
