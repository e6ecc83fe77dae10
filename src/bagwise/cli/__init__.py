"""The command line: one command per file."""

from bagwise.cli.entry_point import main

__all__ = ["main"]
