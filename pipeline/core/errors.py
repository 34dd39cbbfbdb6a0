"""The base of all errors and warnings of imwk-sweep, and those of the core."""


class ImwkError(Exception):
    """The base of all errors that imwk-sweep raises on purpose."""


class InvalidInputError(ImwkError, ValueError):
    """An argument cannot be used; the message says what to do instead."""


class ConstantFeatureWarning(UserWarning):
    """A normalisation has set a feature without spread to zeros."""
