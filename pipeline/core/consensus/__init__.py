"""What many labellings of one data set have in common."""

from pipeline.core.consensus.central import central_scores
from pipeline.core.consensus.coassociation import consensus_labels, ensembles

__all__ = ["central_scores", "consensus_labels", "ensembles"]
