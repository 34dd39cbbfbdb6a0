"""The command `imwk`. Commands parse options, call a function of the library, and print."""

from workflows.cli.main import main

__all__ = ["main"]
