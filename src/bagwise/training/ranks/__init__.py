"""The processes of one run, and how bags are dealt to them."""

from bagwise.training.ranks.dealing import deal
from bagwise.training.ranks.group import Lost, Ranks, current, joined

__all__ = ["Lost", "Ranks", "current", "deal", "joined"]
