"""The command `imwk`: parses, calls, prints."""

from workflows.cli.main import main

__all__ = ["main"]
