"""The errors of this layer."""

from pipeline.core.errors import ImwkError


class WorkersError(ImwkError):
    """Workers cannot be used: there are none, or those that are there cannot take part."""


class InsecureSchedulerError(ImwkError):
    """Connections without TLS must be allowed explicitly."""


class CancelledSweepError(ImwkError):
    """Someone cancelled the sweep; what is done is in the cube."""


class PictureError(ImwkError, ValueError):
    """A picture cannot be drawn; the message says why and what to do."""
