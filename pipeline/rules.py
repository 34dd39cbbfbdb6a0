"""The rules by which results are computed have a version, which specs and cubes record."""

#: The version of the rules. Increase it when a spec would give other results than before, beyond
#: the rounding of last bits, and add what has changed below.
RULES = 2
#: The version of cubes that do not record one.
FIRST_RULES = 1
#: What each version changed, to complete the sentence "Since version 2 ...".
CHANGES = {2: "the z-score divides by the sample standard deviation (divisor n - 1, not n)"}


def changes_since(version: int) -> str:
    """Return what has changed since a version of the rules.

    Examples
    --------
    >>> changes_since(1)
    'since version 2 the z-score divides by the sample standard deviation (divisor n - 1, not n)'
    >>> changes_since(3)
    'version 3 is newer than this software'
    """
    later = (f"since version {each} {CHANGES[each]}" for each in CHANGES if each > version)
    return "; ".join(later) or f"version {version} is newer than this software"
