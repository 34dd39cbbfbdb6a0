"""The errors of this layer."""

from pipeline.core.errors import ImwkError, InvalidInputError


class WorkflowError(ImwkError):
    """The base of the errors whose message is about arguments of a function.

    Parameters
    ----------
    message : str
        What is wrong, and what to do.
    *arguments : str
        The names of the arguments that the message is about. A caller that has other names for
        them, such as the command line, can add its own names to the message.

    Examples
    --------
    >>> ArgumentError("Give k, the number of clusters.", "k").arguments
    ('k',)
    """

    def __init__(self, message: str, *arguments: str) -> None:
        super().__init__(message)
        self.arguments = arguments


class ArgumentError(WorkflowError, InvalidInputError):
    """An argument is missing, or does not fit the other arguments."""


class WorkersError(WorkflowError):
    """The workers cannot be used: there are none, or some of them cannot take part."""


class InsecureSchedulerError(WorkflowError):
    """A connection without TLS was not allowed explicitly."""


class CancelledSweepError(ImwkError):
    """The sweep was cancelled; the tiles that are done are in the cube."""


class PictureError(ImwkError, ValueError):
    """A picture cannot be drawn; the message says why and what to do."""
