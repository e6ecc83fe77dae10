"""A run in one plain dictionary: everything that a report or a viewer shows."""

from bagwise.summary.judged import Plain
from bagwise.summary.summarise import summarise

__all__ = ["Plain", "summarise"]
