"""Choose exponents, a normalisation or k-means++ from what a cube keeps, without classes."""

from workflows.choice.candidates import Candidate
from workflows.choice.choosing import choose
from workflows.choice.picks import DatasetChoice, Pick

__all__ = ["Candidate", "DatasetChoice", "Pick", "choose"]
