"""Choose exponents, a normalisation or k-means++ from what a cube keeps, without classes."""

from workflows.choice.candidates import Candidate
from workflows.choice.choosing import DatasetChoice, Pick, choose

__all__ = ["Candidate", "DatasetChoice", "Pick", "choose"]
