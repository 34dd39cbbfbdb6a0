"""What can be wrong with a cluster."""

from pipeline.core.errors import ImwkError


class ClusterError(ImwkError):
    """A cluster cannot be used: none is there, or its workers cannot take part."""


class InsecureSchedulerError(ImwkError):
    """A connection that others could use was not asked for in so many words."""
