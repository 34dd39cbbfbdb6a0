"""The one family of errors and warnings of imwk-sweep."""


class ImwkError(Exception):
    """Anything that imwk-sweep refuses or cannot do; catch this to catch them all."""


class InvalidInputError(ImwkError, ValueError):
    """A value that the caller handed in cannot be used; the message says what to do instead."""


class ConstantFeatureWarning(UserWarning):
    """A feature without spread was set to zeros by a normalisation."""
