"""Comparing methods over a protocol: one folder a comparison, one file a unit, tables and figures from them."""

from bagwise.comparing.comparison import Comparison
from bagwise.comparing.execution import compare

__all__ = ["Comparison", "compare"]
