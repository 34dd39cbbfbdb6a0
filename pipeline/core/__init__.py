"""The numeric core: it needs NumPy alone, and knows nothing of sweeps, Dask or files."""

from pipeline.core.agreement import (
    adjusted_mutual_info,
    adjusted_rand_index,
    normalised_mutual_info,
)
from pipeline.core.centres import minkowski_centre
from pipeline.core.consensus import central_scores, consensus_labels, ensembles
from pipeline.core.errors import ConstantFeatureWarning, ImwkError, InvalidInputError
from pipeline.core.imwk import imwk, imwk_grid, imwk_many
from pipeline.core.kmeans import KMeansResult, kmeans, kmeans_many
from pipeline.core.lanes import ImwkResult
from pipeline.core.normalise import NORMALISATIONS, normalise
from pipeline.core.prediction import nearest_clusters
from pipeline.core.rescale import rescale
from pipeline.core.scores import calinski_harabasz, davies_bouldin, info_score, silhouette

__all__ = [
    "NORMALISATIONS",
    "ConstantFeatureWarning",
    "ImwkError",
    "ImwkResult",
    "InvalidInputError",
    "KMeansResult",
    "adjusted_mutual_info",
    "adjusted_rand_index",
    "calinski_harabasz",
    "central_scores",
    "consensus_labels",
    "davies_bouldin",
    "ensembles",
    "imwk",
    "imwk_grid",
    "imwk_many",
    "info_score",
    "kmeans",
    "kmeans_many",
    "minkowski_centre",
    "nearest_clusters",
    "normalise",
    "normalised_mutual_info",
    "rescale",
    "silhouette",
]
