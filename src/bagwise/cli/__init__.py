"""The command line: one command a file."""

from bagwise.cli.entry import main

__all__ = ["main"]
